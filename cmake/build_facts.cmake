# The facts that a build tells about itself (base/version.h): its commit, its compiler and
# the versions of the libraries that it found.
set(BLOOMRING_COMMIT "" CACHE STRING "The commit that this build says it is of; empty: of the file COMMIT, else as git says")

# bloomring_commit(VARIABLE): `git archive` writes the commit into the file COMMIT (.gitattributes). In a checkout that file has the
# format alone, and git is asked. A tarball in the folder of another repository has its own commit, not that of the repository.
function(bloomring_commit variable)
  set(commit "${BLOOMRING_COMMIT}")
  if(NOT commit)
    file(STRINGS ${PROJECT_SOURCE_DIR}/COMMIT commit LIMIT_COUNT 1)
    if(commit MATCHES "Format")
      execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_git)
      if(no_git)
        set(commit unknown)
      endif()
    endif()
  endif()
  set(${variable} "${commit}" PARENT_SCOPE)
endfunction()

# "NAME=VERSION," of each library, by the name of its file without ".so". Those of pkg-config have their versions in the cache.
set(bloomring_built_with "")
foreach(part
    libabsl_base=${absl_VERSION} libfmt=${fmt_VERSION} libhiredis=${HIREDIS_VERSION} libjemalloc=${JEMALLOC_VERSION}
    libcrypto=${OPENSSL_VERSION} libgrpc++=${GRPCPP_VERSION} libprometheus-cpp-core=${prometheus-cpp_VERSION}
    libprotobuf=${Protobuf_VERSION} librdkafka=${RDKAFKA_VERSION} librocksdb=${RocksDB_VERSION}
    libsimdjson=${simdjson_VERSION} libspdlog=${spdlog_VERSION} libxxhash=${XXHASH_VERSION} libyaml-cpp=${yaml-cpp_VERSION})
  string(APPEND bloomring_built_with "${part},")
endforeach()
