// Functions of one number that operators apply, alone or to their results.
#pragma once

#include <cstddef>
#include <limits>

namespace podere::graph {

enum class Function {
  kClip,         ///< between a and b; identity and relu too
  kLeakyRelu,    ///< a x below 0
  kSigmoid,      //
  kSilu,         ///< x sigmoid(a x)
  kHardSigmoid,  ///< a x + b within [0, 1]
  kHardSwish,    ///< x (x / 6 + 1/2 within [0, 1])
  kTanh,         //
  kElu,          ///< a (e^x - 1) below 0
  kErf,          //
  kGelu,         ///< x (1 + erf(x / sqrt 2)) / 2
  kGeluTanh,     ///< the same by tanh
  kMish,         ///< x tanh(log(1 + e^x))
  kExp,          //
  kLog,          //
  kSqrt,         //
  kAbs,          //
  kNeg,          //
  kReciprocal,   //
  kFloor,        //
  kCeil,         //
};

struct Activation {
  Function function = Function::kClip;
  float a = -std::numeric_limits<float>::infinity();
  float b = std::numeric_limits<float>::infinity();

  bool is_identity() const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return function == Function::kClip && a == -kInfinity && b == kInfinity;
  }
};

/// Values of a step: `n_rows` runs of `width` floats, one every `stride`.
struct Rows {
  std::size_t n_rows;
  std::size_t width;
  std::size_t stride;
};

}  // namespace podere::graph
