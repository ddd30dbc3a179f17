#include "podere/cli/unknown_command.h"

#include <gtest/gtest.h>

namespace podere::cli {
namespace {

struct Case {
  std::vector<std::string> words;
  std::string message;
};

class UnknownCommand : public testing::TestWithParam<Case> {};

TEST_P(UnknownCommand, IsReportedWithWhatMayHaveBeenMeant) {
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

class UnexpectedWords : public testing::TestWithParam<Case> {};

TEST_P(UnexpectedWords, AreReportedWithTheCommandThatHasThem) {
  CLI::App app("", "podere");
  CLI::App* train = app.add_subcommand("train");
  int number = 0;
  train->add_subcommand("nn")->add_option("--servers,-s", number);
  train->add_subcommand("mlp")->add_option("--iterations", number);
  std::vector<std::string> reversed(GetParam().words.rbegin(), GetParam().words.rend());
  EXPECT_THROW(app.parse(reversed), CLI::ExtrasError);
  EXPECT_EQ(unexpected_words(app), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    , UnexpectedWords,
    testing::Values(Case{{"train", "mlp", "--servers", "1"},
                         "podere train mlp has no option --servers, that is one of podere train nn"},
                    Case{{"train", "mlp", "--servers=1"},
                         "podere train mlp has no option --servers, that is one of podere train nn"},
                    Case{{"train", "mlp", "--iteration", "1"},
                         "podere train mlp has no option --iteration: did you mean --iterations?"},
                    Case{{"train", "nn", "-x"}, "podere train nn has no option -x"},
                    Case{{"train", "nn", "a.csv", "b.csv"}, "podere train nn does not expect 'a.csv b.csv'"},
                    Case{{"--fast"}, "podere has no option --fast"}));

}  // namespace
}  // namespace podere::cli
