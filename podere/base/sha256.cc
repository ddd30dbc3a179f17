#include "podere/base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>

#include "podere/base/cannot_read.h"
#include "podere/base/error.h"

namespace podere {
namespace {

class Digest {
 public:
  Digest() { check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }
  void add(std::string_view bytes) { check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size())); }
  std::string text() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned n = 0;
    check(EVP_DigestFinal_ex(context_.get(), digest.data(), &n));
    return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + n, ""));
  }

 private:
  static void check(int is_done) {
    if (is_done != 1) throw_error("SHA-256 cannot be computed");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.text();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_cannot_read(path);
  Digest digest;
  std::string piece(1 << 20, '\0');
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    digest.add(std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  return digest.text();
}

}  // namespace podere
