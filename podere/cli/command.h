// The subcommands of `podere`. Each adds itself with its options to a parser; when it was chosen on the command line it
// puts what to do into `chosen`, which main() calls after parsing and which returns the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace podere::cli {

inline constexpr int kDone = 0;
inline constexpr int kOurFault = 1;
inline constexpr int kInputFault = 2;
inline constexpr int kInterrupted = 130;

using Command = std::function<int()>;

void add_generate(CLI::App& app, Command& chosen);
/// Subcommand of `generate`.
void add_generate_sem(CLI::App& generate, Command& chosen);
void add_describe(CLI::App& app, Command& chosen);
void add_svd(CLI::App& app, Command& chosen);
void add_covariance(CLI::App& app, Command& chosen);
void add_qr(CLI::App& app, Command& chosen);
void add_train(CLI::App& app, Command& chosen);
/// "nn" and "mlp" of train.
void add_train_networks(CLI::App& train, Command& chosen);
/// A subcommand of train for each algorithm of the catalog that does not have its own file.
void add_train_others(CLI::App& train, Command& chosen);
void add_tune(CLI::App& app, Command& chosen);
void add_study(CLI::App& app, Command& chosen);
void add_predict(CLI::App& app, Command& chosen);
void add_classify(CLI::App& app, Command& chosen);
void add_evaluate(CLI::App& app, Command& chosen);
void add_explain(CLI::App& app, Command& chosen);
void add_model(CLI::App& app, Command& chosen);
void add_report(CLI::App& app, Command& chosen);
void add_scale(CLI::App& app, Command& chosen);
void add_convert(CLI::App& app, Command& chosen);
void add_session(CLI::App& app, Command& chosen);
/// Subcommands of `session`.
void add_session_tables(CLI::App& session, Command& chosen);
/// Also its subcommands.
void add_farm(CLI::App& app, Command& chosen);
void add_operator(CLI::App& app, Command& chosen);
void add_doctor(CLI::App& app, Command& chosen);
void add_completion(CLI::App& app, Command& chosen);
/// Hidden: packages call it.
void add_manual(CLI::App& app, Command& chosen);
/// Hidden: what the launcher starts.
void add_executor(CLI::App& app, Command& chosen);
/// Likewise: what podere scale starts.
void add_network(CLI::App& app, Command& chosen);
void add_decode(CLI::App& app, Command& chosen);

}  // namespace podere::cli
