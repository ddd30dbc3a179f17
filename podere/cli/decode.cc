// podere decode: what executors start for a picture that may end the process that decodes it.
#include "podere/cli/arguments.h"
#include "podere/image/decode_apart.h"

namespace podere::cli {
namespace {

constexpr int kMostSeconds = 86400;

struct DecodeCommand {
  std::string name;
  int seconds = 0;
  image::DecodeOptions decode;
};

}  // namespace

void add_decode(CLI::App& app, Command& chosen) {
  add_command<DecodeCommand>(
      app, chosen, "decode", "Decode the picture that is standard input, for an executor",
      [](CLI::App& command, DecodeCommand& options) {
        command.add_option("NAME", options.name)->required();
        command.add_option("--seconds", options.seconds)->required()->transform(whole_number(1, kMostSeconds));
        command.add_option("--page", options.decode.page);
        command.add_option("--bits", options.decode.n_bits);
        command.add_option("--bytes", options.decode.max_bytes);
      },
      [](const DecodeCommand& options) {
        return image::decode_for_another(options.name, options.seconds, options.decode);
      })
      ->group("");
}

}  // namespace podere::cli
