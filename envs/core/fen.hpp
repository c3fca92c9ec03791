// Reading and writing what the FENs of all games share (rules.md section 0): fields, the board with
// its runs of empty squares, and the counters.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/game.hpp"

namespace deskovky {

// Splits at single blanks.
inline std::vector<std::string_view> fen_fields(std::string_view fen) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto blank = fen.find(' ');
    fields.push_back(fen.substr(0, blank));
    if (fields.back().empty()) throw FenError("board", "fields are separated by exactly one blank");
    if (blank == std::string_view::npos) return fields;
    fen.remove_prefix(blank + 1);
  }
}

inline bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Returns the letter on each square, a1 first, '.' for empty. `letters` are the capital ones.
inline std::string board_from_fen(std::string_view board, int num_ranks, int num_files,
                                  std::string_view letters) {
  std::string squares(num_ranks * num_files, '.');
  int rank = num_ranks - 1, file = 0;
  const auto check_width = [&] {
    if (file != num_files) {
      throw FenError("board", "rank " + std::to_string(rank + 1) + " has not " +
                                  std::to_string(num_files) + " squares");
    }
  };
  for (std::size_t i = 0; i < board.size();) {
    const char c = board[i];
    if (c == '/') {
      check_width();
      if (--rank < 0) break;
      file = 0;
      ++i;
    } else if (is_digit(c)) {
      if (c == '0') throw FenError("board", "a number of empty squares begins with 0");
      int run = 0;
      for (; i < board.size() && is_digit(board[i]) && run <= num_files; ++i) {
        run = 10 * run + (board[i] - '0');
      }
      file += run;
      if (file > num_files) check_width();
    } else {
      const char capital = 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      if (letters.find(capital) == std::string_view::npos) {
        throw FenError("board", std::string("unknown piece '") + c + "'");
      }
      if (file >= num_files) {
        ++file;
        check_width();
      }
      squares[rank * num_files + file++] = c;
      ++i;
    }
  }
  if (rank == 0) check_width();
  if (rank != 0) {
    throw FenError("board", "has not " + std::to_string(num_ranks) + " ranks");
  }
  return squares;
}

inline std::string board_to_fen(std::string_view squares, int num_ranks, int num_files) {
  std::string board;
  for (int rank = num_ranks - 1; rank >= 0; --rank) {
    int empty = 0;
    for (int file = 0; file < num_files; ++file) {
      const char c = squares[rank * num_files + file];
      if (c == '.') {
        ++empty;
        continue;
      }
      if (empty) board += std::to_string(empty);
      empty = 0;
      board += c;
    }
    if (empty) board += std::to_string(empty);
    if (rank) board += '/';
  }
  return board;
}

// The counters of a FEN stop here: no rule and no cap looks at more.
inline constexpr int kMaximumCounter = 1'000'000;

inline int counter_from_fen(const std::string& field, std::string_view text, int minimum) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_plain = !text.empty() && is_digit(text[0]) && (text[0] != '0' || text.size() == 1);
  if (!is_plain || error != std::errc() || end != text.data() + text.size() || value < minimum ||
      value > kMaximumCounter) {
    throw FenError(field, "'" + std::string(text) + "' is not a number from " +
                              std::to_string(minimum) + " to " + std::to_string(kMaximumCounter));
  }
  return value;
}

// Reads side, quiet and move. Pass "0" and "1" for the counters of a short FEN.
inline Counters counters_from_fen(std::string_view side, std::string_view quiet,
                                  std::string_view move) {
  if (side != "w" && side != "b") {
    throw FenError("side", "'" + std::string(side) + "' is neither 'w' nor 'b'");
  }
  Counters counters;
  counters.quiet = counter_from_fen("quiet", quiet, 0);
  counters.turns = 2 * (counter_from_fen("move", move, 1) - 1) + (side == "b");
  return counters;
}

inline std::string side_to_fen(const Counters& counters) { return counters.to_move() ? "b" : "w"; }

inline std::string counters_to_fen(const Counters& counters) {
  return std::to_string(std::min(counters.quiet, kMaximumCounter)) + " " +
         std::to_string(std::min(counters.turns / 2 + 1, kMaximumCounter));
}

}  // namespace deskovky
