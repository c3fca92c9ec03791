// Planes: where a game writes its observation. A row that is written again and again, as those of a
// vector of games are, is wiped where it was written only: nearly all of it is zeros, and memory is
// what such rows cost.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace deskovky {

// What was written into a row.
struct WrittenPlanes {
  static constexpr int kMostMarks = 120;  // one for each square, and some more

  std::uint32_t filled = 0;  // planes, as bits
  int num_marks = 0;
  std::array<std::uint16_t, kMostMarks> marks;  // plane * num_squares + square
};

class Planes {
 public:
  // `data` is all zeros. With `written`, what is written is noted there.
  Planes(float* data, int num_squares, WrittenPlanes* written = nullptr)
      : data_(data), num_squares_(num_squares), written_(written) {}

  // Sets a 1.
  void mark(int plane, int square) {
    const int index = plane * num_squares_ + square;
    data_[index] = 1.0f;
    if (written_) written_->marks[written_->num_marks++] = static_cast<std::uint16_t>(index);
  }

  // Sets a plane, one that never has marks, to one value.
  void fill(int plane, float value) {
    std::fill_n(data_ + plane * num_squares_, num_squares_, value);
    if (written_) written_->filled |= 1u << plane;
  }

  // Calls write(*this) for a row that holds what is noted; all else is zero afterwards.
  template <class Write>
  void rewrite(const Write& write) {
    const std::uint32_t filled = std::exchange(written_->filled, 0);
    const int num_marks = std::exchange(written_->num_marks, 0);
    for (int i = 0; i < num_marks; ++i) data_[written_->marks[i]] = 0.0f;
    write(*this);
    for (std::uint32_t left = filled & ~written_->filled; left; left &= left - 1) {
      std::fill_n(data_ + std::countr_zero(left) * num_squares_, num_squares_, 0.0f);
    }
  }

 private:
  float* data_;
  int num_squares_;
  WrittenPlanes* written_;
};

}  // namespace deskovky
