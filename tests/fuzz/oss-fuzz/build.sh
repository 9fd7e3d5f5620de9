#!/bin/bash -eu
# Builds the targets as OSS-Fuzz asks for them: with its compiler and flags ($CXX, $CXXFLAGS), its engine ($LIB_FUZZING_ENGINE), and all
# that a target needs in $OUT. Libraries of packages are shared there, and found next to the target.
cd "$SRC/bloomring"
cmake -S . -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DBLOOMRING_FUZZ=ON -DBLOOMRING_BENCH=OFF \
  "-DBLOOMRING_FUZZ_ENGINE=$LIB_FUZZING_ENGINE"
mkdir -p "$OUT/lib"
for source in tests/fuzz/*_fuzz.cc; do
  name=$(basename "$source" _fuzz.cc)
  cmake --build "$WORK/build" --target "fuzz_$name"
  cp "$WORK/build/bin/fuzz_$name" "$OUT/"
  ldd "$OUT/fuzz_$name" | sed -nE 's,.* => (/\S+) .*,\1,p' | grep -vE '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so' |
    xargs -r cp -Lnt "$OUT/lib"
  patchelf --set-rpath '$ORIGIN/lib' "$OUT/fuzz_$name"
  (cd "tests/fuzz/corpus/$name" && zip -q -r "$OUT/fuzz_${name}_seed_corpus.zip" .)
  if [[ -f tests/fuzz/dictionary/$name.dict ]]; then cp "tests/fuzz/dictionary/$name.dict" "$OUT/fuzz_$name.dict"; fi
done
