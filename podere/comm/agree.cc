// One rank's failure as a failure of all.
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/comm/communicator.h"

namespace podere::comm {

void Communicator::agree(const std::function<void()>& phase) const {
  enum : std::int32_t { kFine, kFailed, kUserMistake };
  std::int32_t outcome = kFine;
  std::string message;
  std::exception_ptr own;
  try {
    phase();
  } catch (const InputError& error) {
    outcome = kUserMistake;
    message = error.what();
    own = std::current_exception();
  } catch (const std::exception& error) {
    outcome = kFailed;
    message = error.what();
    own = std::current_exception();
  } catch (...) {
    outcome = kFailed;
    message = "an unknown failure";
    own = std::current_exception();
  }
  const std::int32_t lowest = all_reduce<std::int32_t>(outcome == kFine ? size_ : rank_, Reduction::kMin);
  if (lowest == size_) return;
  broadcast(std::span(&outcome, 1), lowest);
  message = broadcast_text(std::move(message), lowest);
  if (own) std::rethrow_exception(own);
  if (outcome == kUserMistake) throw InputError(message);
  throw Error(message);
}

}  // namespace podere::comm
