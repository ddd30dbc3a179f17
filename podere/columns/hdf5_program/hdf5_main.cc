// podere-hdf5 FILE KEY: reads arrays of an HDF5 file for another process, see podere/columns/hdf5_protocol.h. The
// library of HDF5 may crash, or run forever, on a damaged file: here that ends this program alone.
// podere-hdf5 --write-labels FILE: writes what comes in lines, see write_labels.h.
// podere-hdf5 --make-arrays FILE: makes room for arrays, see make_arrays.h.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "podere/columns/hdf5_program/filters.h"
#include "podere/columns/hdf5_program/find.h"
#include "podere/columns/hdf5_program/make_arrays.h"
#include "podere/columns/hdf5_program/write_labels.h"
#include "podere/columns/hdf5_protocol.h"

namespace podere::columns::hdf5 {
namespace {

/// Whether all bytes came.
bool read_all(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

/// Ends the program if its output is closed.
void write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) std::exit(EXIT_FAILURE);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void answer(bool is_refused, std::span<const std::byte> bytes) {
  const Hdf5Answer head{is_refused ? 1U : 0U, bytes.size()};
  write_all(std::as_bytes(std::span(&head, 1)));
  write_all(bytes);
}

void answer(bool is_refused, const std::string& text) { answer(is_refused, std::as_bytes(std::span(text))); }

void limit_time() {
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = kHdf5SecondsPerAnswer, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

nlohmann::json describe(const Array& array) {
  nlohmann::json fields = nlohmann::json::array();
  for (const Field& field : array.fields()) {
    fields.push_back({{"name", field.name}, {"type", field.type}, {"offset", field.to}, {"index", field.is_index}});
  }
  nlohmann::json dimensions = nlohmann::json::array();
  for (const Dimension& dimension : array.meaning().dimensions) {
    dimensions.push_back({{"name", dimension.name}, {"values", dimension.values}});
  }
  return {{"name", array.name()},
          {"coordinate", array.meaning().is_coordinate},
          {"units", array.meaning().units},
          {"dimensions", std::move(dimensions)},
          {"shape", array.shape()},
          {"fortran", array.is_fortran()},
          {"chunk_rows", array.chunk_rows()},
          {"element_bytes", array.element_bytes()},
          {"fields", std::move(fields)}};
}

std::string describe(const Contents& contents) {
  nlohmann::json text = {{"arrays", nlohmann::json::array()}, {"others", nlohmann::json::array()}};
  for (const Array& array : contents.arrays) text["arrays"].push_back(describe(array));
  for (const Contents::Other& other : contents.others) {
    text["others"].push_back({{"name", other.name},
                              {"why", other.why},
                              {"group", other.use == Contents::Use::kGroup},
                              {"coordinate", other.use == Contents::Use::kCoordinate}});
  }
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Handle open_file(const char* path) {
  // Locks fail on file systems that are shared and read only, and protect nothing here.
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5Lunregister(H5L_TYPE_EXTERNAL);  // links into other files lead nowhere, also in the middle of a path
  register_filters();
  Handle file(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file) refuse("is no HDF5 file, or its begin is damaged, or it is cut");
  return file;
}

void run(const char* path, const char* key) {
#ifdef PODERE_LIMITS_MEMORY
  const rlimit memory{kHdf5MemoryBytes, kHdf5MemoryBytes};
  setrlimit(RLIMIT_AS, &memory);
#endif
  limit_time();
  const Handle file = open_file(path);
  const Contents contents = find_arrays(file.get(), key);
  answer(false, describe(contents));
  Hdf5Request request;
  while (read_all(std::as_writable_bytes(std::span(&request, 1)))) {
    limit_time();
    if (request.array >= contents.arrays.size()) refuse("array {} was asked for", request.array);
    const Array& array = contents.arrays[static_cast<std::size_t>(request.array)];
    try {
      answer(false, array.read(request.first_byte, request.n_bytes));
    } catch (const Refusal& refusal) {
      throw Refusal{array.name() + ": " + refusal.message};
    }
  }
}

/// Exit code 0 if write() wrote a file; else one line on standard error.
template <typename Write>
int try_to_write(Write&& write) {
  try {
    write();
    return 0;
  } catch (const Refusal& refusal) {
    std::fputs((refusal.message + "\n").c_str(), stderr);
  } catch (const std::exception& error) {
    std::fputs((std::string("cannot be written: ") + error.what() + "\n").c_str(), stderr);
  }
  return 2;
}

}  // namespace
}  // namespace podere::columns::hdf5

int main(int argc, char** argv) {
  namespace hdf5 = podere::columns::hdf5;
  if (argc == 3 && std::string_view(argv[1]) == "--write-labels") {
    return hdf5::try_to_write([&] { hdf5::write_labels(argv[2], std::cin); });
  }
  if (argc == 3 && std::string_view(argv[1]) == "--make-arrays") {
    return hdf5::try_to_write([&] { std::cout << hdf5::make_arrays(argv[2], std::cin) << '\n'; });
  }
  if (argc != 3 || isatty(STDOUT_FILENO) != 0) {
    std::fputs("podere-hdf5 reads HDF5 files for podere, which starts it: podere describe FILE.h5\n", stderr);
    return 2;
  }
  try {
    hdf5::run(argv[1], argv[2]);
  } catch (const hdf5::Refusal& refusal) {
    hdf5::answer(true, refusal.message);
  } catch (const std::exception& error) {
    hdf5::answer(true, std::string("cannot be read: ") + error.what());
  }
  return 0;
}
