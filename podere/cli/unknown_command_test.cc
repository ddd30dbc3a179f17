#include "podere/cli/unknown_command.h"

#include <gtest/gtest.h>

namespace podere::cli {
namespace {

struct Case {
  std::vector<std::string> words;
  std::string message;
};

class UnknownCommand : public testing::TestWithParam<Case> {};

TEST_P(UnknownCommand, IsToldWithWhatMayHaveBeenMeant) {
  CLI::App app("", "podere");
  app.add_subcommand("train")->add_subcommand("gbt");
  app.add_subcommand("describe");
  app.add_subcommand("executor")->group("");
  EXPECT_EQ(unknown_command(app, GetParam().words), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    , UnknownCommand,
    testing::Values(Case{{"trian", "gbt"}, "there is no command 'podere trian': did you mean podere train?"},
                    Case{{"describ"}, "there is no command 'podere describ': did you mean podere describe?"},
                    Case{{"train", "gtb"}, "there is no command 'podere train gtb': did you mean podere train gbt?"},
                    Case{{"train", "mine.csv"}, "say what to train: podere train gbt mine.csv"},
                    Case{{"train"}, "say what to train: podere train gbt"},
                    Case{{"fly"}, "there is no command 'fly': it is one of train, describe"},
                    Case{{"executer"}, "there is no command 'executer': it is one of train, describe"},
                    Case{{""}, "say what to do: train, describe"}, Case{{}, "say what to do: train, describe"},
                    Case{{"train", "gbt", "x.csv"}, ""}, Case{{"describe"}, ""}, Case{{"--fast"}, ""}));

}  // namespace
}  // namespace podere::cli
