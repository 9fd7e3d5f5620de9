// Any bytes as a play: accepted or refused, the same by the quick readers and by the strict one, also when the quick
// ones have seen the record's shape before. A field is repeated exactly where counting its names finds it twice.
#include "base/result.h"
#include "schemas/json/json_fields.h"
#include "schemas/json/play_json.h"
#include "tests/schemas/json/naive_fields.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'649'314'900'000;

void check_same(const JsonField& quick, const JsonField& strict) {
  BLOOMRING_CHECK(quick.type == strict.type, "of the same type");
  const bool same = (quick.type != JsonField::Type::kString || quick.text == strict.text) &&
                    (quick.type != JsonField::Type::kInt64 || quick.int64 == strict.int64) &&
                    (quick.type != JsonField::Type::kUint64 || quick.uint64 == strict.uint64);
  BLOOMRING_CHECK(same, "with the same value");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  static const std::vector<std::string> names = {"user", "item.id", "time"};
  static JsonFields quick(names), strict(names);
  const JsonOutcome outcome = strict.read_strictly(input);
  for (int pass = 0; pass < 2; ++pass) {
    BLOOMRING_CHECK(quick.read(input) == outcome, "the quick readers judge as the strict one");
    if (outcome != JsonOutcome::kObject) continue;
    for (size_t i = 0; i < names.size(); ++i) {
      check_same(quick.fields()[i], strict.fields()[i]);
      const bool repeated = quick.fields()[i].type == JsonField::Type::kRepeated;
      BLOOMRING_CHECK(repeated == naively_repeated(input, names[i]), "repeated where it is there twice");
    }
  }
  static PlayParser parser{PlayMapping{}};
  Play play;
  const Refusal refusal = parser.parse(input, kNowMs, play);
  BLOOMRING_CHECK(refusal == Refusal::kNone || !parser.detail().empty(), "refused with a reason");
  return 0;
}
