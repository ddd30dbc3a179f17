#include "podere/image/decode_apart.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>

#include "podere/image/encode_jpeg.h"
#include "podere/image/test_pictures.h"

namespace podere::image {
namespace {

/// How a process ended that did `body` with these bytes as its standard input, and what it wrote.
struct Ended {
  int status = -1;
  std::string written;
};

Ended in_process(Bytes input, const std::function<int()>& body) {
  const std::array files = {memfd_create("input", 0), memfd_create("output", 0)};
  EXPECT_EQ(write(files[0], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  const pid_t process = fork();
  if (process == 0) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO}) dup2(files[static_cast<std::size_t>(stream)], stream);
    _exit(body());
  }
  Ended ended;
  EXPECT_EQ(waitpid(process, &ended.status, 0), process);
  ended.written.resize(static_cast<std::size_t>(lseek(files[1], 0, SEEK_END)));
  EXPECT_EQ(pread(files[1], ended.written.data(), ended.written.size(), 0), static_cast<ssize_t>(ended.written.size()));
  for (const int file : files) close(file);
  return ended;
}

/// Eight numbers of 32 bits, the last of which means nothing, and four real ones go before the message or the detector,
/// and the pixels.
constexpr std::size_t kHeadBytes = 8 * 4 + 4 * 8;

std::array<std::uint32_t, 7> head_of(const Ended& ended) {
  std::array<std::uint32_t, 7> head{};
  EXPECT_GE(ended.written.size(), kHeadBytes);
  std::memcpy(head.data(), ended.written.data(), std::min(sizeof head, ended.written.size()));
  return head;
}
std::array<double, 4> microscope_of(const Ended& ended) {
  std::array<double, 4> numbers{};
  if (ended.written.size() >= kHeadBytes) std::memcpy(numbers.data(), ended.written.data() + 32, sizeof numbers);
  return numbers;
}
std::string rest_of(const Ended& ended) { return ended.written.substr(std::min(kHeadBytes, ended.written.size())); }

std::vector<std::uint8_t> a_jpeg(std::uint32_t width, std::uint32_t height) {
  Picture picture(width, height, kRgb);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) picture.pixels[i] = static_cast<std::uint8_t>(i * 7);
  return encode_jpeg(picture, 90);
}

TEST(DecodeApart, TheProcessAnswersWithThePictureThatDecodeMakes) {
  const std::vector<std::uint8_t> bytes = a_jpeg(37, 21);
  const Ended ended = in_process(bytes, [] { return decode_for_another("a.jpg", 10, {}); });
  ASSERT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0);
  EXPECT_EQ(head_of(ended), (std::array<std::uint32_t, 7>{0, 0, 37, 21, 3, 0, 0}));
  for (const double number : microscope_of(ended)) EXPECT_TRUE(std::isnan(number));
  const Picture expected = decode(bytes, "a.jpg");
  EXPECT_EQ(rest_of(ended), std::string(expected.pixels.begin(), expected.pixels.end()));
}

TEST(DecodeApart, TheProcessAnswersWithWhatTheMicroscopeWrote) {
  const std::vector<std::uint8_t> bytes = bytes_of(kTestPictures / "made/zeiss.tif");
  const Ended ended = in_process(bytes, [] { return decode_for_another("a.tif", 10, {}); });
  ASSERT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0);
  const PictureWithFacts expected = decode_with_facts(bytes, "a.tif");
  const MicroscopeFacts& facts = expected.microscope;
  ASSERT_TRUE(facts.pixel_size_nm && facts.voltage_kv && facts.working_distance_mm && facts.magnification);
  EXPECT_EQ(microscope_of(ended),
            (std::array{*facts.pixel_size_nm, *facts.voltage_kv, *facts.working_distance_mm, *facts.magnification}));
  EXPECT_FALSE(facts.detector.empty());
  EXPECT_EQ(head_of(ended)[5], facts.detector.size());
  const std::vector<std::uint8_t>& pixels = expected.picture.pixels;
  EXPECT_EQ(rest_of(ended), facts.detector + std::string(pixels.begin(), pixels.end()));
}

TEST(DecodeApart, TheProcessAnswersWithWhetherThereAreOtherPages) {
  const std::vector<std::uint8_t> bytes = bytes_of(kTestPictures / "made/pages.tif");
  for (const std::uint32_t page : {0U, 1U}) {
    const Ended ended = in_process(bytes, [&] { return decode_for_another("a.tif", 10, {.page = page}); });
    EXPECT_EQ(head_of(ended), (std::array<std::uint32_t, 7>{0, 0, page == 0 ? 61U : 20U, page == 0 ? 47U : 30U,
                                                            page == 0 ? 1U : 3U, 0, 1}));
  }
}

TEST(DecodeApart, TheProcessAnswersWithWhatIsWrong) {
  const std::vector<std::uint8_t> whole = a_jpeg(300, 200);
  const auto kind_and_words = [](Bytes bytes, const DecodeOptions& options = {}) {
    const Ended ended = in_process(bytes, [&] { return decode_for_another("a.jpg", 10, options); });
    EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0);
    const auto head = head_of(ended);
    EXPECT_EQ(head[0], 1U);
    EXPECT_TRUE(rest_of(ended).starts_with("a.jpg: ")) << rest_of(ended);
    return static_cast<FaultKind>(head[1]);
  };
  EXPECT_EQ(kind_and_words({}), FaultKind::kEmpty);
  EXPECT_EQ(kind_and_words(Bytes(whole).first(200)), FaultKind::kDamaged);
  EXPECT_EQ(kind_and_words(std::vector<std::uint8_t>(100, 'x')), FaultKind::kOtherKind);
  EXPECT_EQ(kind_and_words(whole, {.page = 1}), FaultKind::kNoPage);
  EXPECT_EQ(kind_and_words(whole, {.max_bytes = 1000}), FaultKind::kTooLarge);
}

TEST(DecodeApart, AProcessThatCannotAnswerFails) {
  const std::vector<std::uint8_t> bytes = a_jpeg(300, 200);
  const Ended ended = in_process(bytes, [] {
    close(STDOUT_FILENO);
    return decode_for_another("a.jpg", 10, {});
  });
  EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 1);
}

TEST(DecodeApart, AProcessThatTakesTooLongIsEndedForThatReason) {
  const Ended ended = in_process({}, [] {
    std::signal(SIGXCPU, SIG_IGN);  // as a parent may have it
    decode_for_another("a.jpg", 1, {});
    for (volatile int forever = 1; forever != 0;) continue;
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGXCPU);
}

}  // namespace
}  // namespace podere::image
