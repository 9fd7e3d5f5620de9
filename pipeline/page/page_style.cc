#include "pipeline/page/page_style.h"

#include <openssl/evp.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "pipeline/page/palette.h"

namespace bloomring {

namespace {

std::string variable(const char* name, uint32_t colour) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "--%s:#%06x;", name, colour);
  return text.data();
}

std::string variables(const Palette& palette) {
  std::string text;
  text += variable("ground", palette.ground) + variable("panel", palette.panel) + variable("text", palette.text) +
          variable("muted", palette.muted) + variable("line", palette.line) + variable("link", palette.link) +
          variable("good", palette.good) + variable("warning", palette.warning) + variable("bad", palette.bad);
  const std::array<const char*, 5> names = {"free", "filling", "sealed", "draining", "merged"};
  for (size_t i = 0; i < names.size(); ++i) text += variable(names[i], palette.slots[i]);
  return text;
}

constexpr const char* kRules = R"(
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
header{padding-top:1rem}footer{padding-bottom:2rem;color:var(--muted)}
a{color:var(--link)}a:focus-visible,.wide:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:0;background:var(--ground);padding:.5rem}
h1{font-size:1.5rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:1.5rem 0 .5rem}p{margin:.4rem 0}
.verdict{font-weight:700;font-size:1.2rem;border-left:.4rem solid;padding-left:.6rem}
.good{color:var(--good)}.warning{color:var(--warning)}.bad{color:var(--bad)}
.muted,caption{color:var(--muted)}
nav ul,.key,.rings{list-style:none;margin:.5rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.2rem 0}
th,td{border:1px solid var(--line);padding:.2rem .6rem;text-align:left;vertical-align:top}
thead th{background:var(--panel)}.n{text-align:right;white-space:nowrap}
td,tbody th{white-space:nowrap}td.t{white-space:normal;overflow-wrap:anywhere;min-width:14rem}
.s{white-space:nowrap;font-family:ui-monospace,monospace}
pre{background:var(--panel);padding:.8rem;overflow-x:auto;border:1px solid var(--line)}
.ring{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:center}
.ring svg{width:min(26rem,100%);height:auto}.ring>div{flex:1 1 18rem}
.rings{gap:1rem}.rings svg{width:9rem;height:9rem;display:block}.rings svg .c{font-size:17px}
.key svg{width:1.4rem;height:1.4rem;vertical-align:-.3rem}
svg text{fill:var(--text);text-anchor:middle;dominant-baseline:central;font:700 11px system-ui,sans-serif}
svg .l{font-size:8px;font-weight:400}svg .c{font-size:13px}
.spark{width:15rem;height:1.5rem;display:block}.spark path{fill:none;stroke:var(--text);stroke-width:1.5}
.a{stroke:var(--line);stroke-width:1}
.s0{fill:var(--free)}.s1{fill:var(--filling)}.s2{fill:var(--sealed)}.s3{fill:var(--draining)}.s4{fill:var(--merged)}
.k1,.k2,.k3,.k4{fill:none;stroke:var(--text);pointer-events:none}
.k1{stroke-width:4}.k2{stroke-width:2;stroke-dasharray:2 3}.k3{stroke-width:4;stroke-dasharray:7 4}.k4{stroke-width:1}
)";

std::string sha256_base64(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), sum.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> base64{};
  const int written = EVP_EncodeBlock(base64.data(), sum.data(), static_cast<int>(size));
  return {base64.begin(), base64.begin() + written};
}

double channel(uint32_t value) {
  const double c = static_cast<double>(value) / 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(uint32_t colour) {
  return 0.2126 * channel(colour >> 16) + 0.7152 * channel(colour >> 8 & 0xff) + 0.0722 * channel(colour & 0xff);
}

}  // namespace

double contrast(uint32_t one, uint32_t other) {
  const double a = luminance(one) + 0.05, b = luminance(other) + 0.05;
  return a > b ? a / b : b / a;
}

const std::string& page_style() {
  static const std::string style = ":root{" + variables(kLight) + "}\n@media(prefers-color-scheme:dark){:root{" +
                                   variables(kDark) + "}}" + kRules;
  return style;
}

const std::string& page_policy() {
  static const std::string policy = "default-src 'none'; style-src 'sha256-" + sha256_base64(page_style()) +
                                    "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return policy;
}

}  // namespace bloomring
