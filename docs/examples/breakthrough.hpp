// Breakthrough on 6 x 6 (Dan Troyka, 2000).
//
// A pawn steps straight or diagonally forward onto an empty square and captures diagonally forward.
// Whoever reaches the farthest rank has won; so has the player whose opponent cannot move.
//
// Action = plane * 36 + square. Planes 0-2: the pawn on `square` steps N NE NW.
// Observation planes, as `player` sees it: 0 own pawns, 1 enemy pawns, 2 empty.
#pragma once

#include "core/draughts.hpp"

namespace deskovky {

struct Breakthrough {
  static constexpr std::array<std::string_view, 1> kRulesets = {"standard"};
  static constexpr std::array<Setup, 1> kSetups = {
      {{"default", "pppppp/pppppp/6/6/PPPPPP/PPPPPP w - 0 1"}}};
  static constexpr GameInfo kInfo = {
      .id = "breakthrough_v0",
      .num_ranks = 6,
      .num_files = 6,
      .num_action_planes = 3,
      .has_pass = false,
      .num_planes = 3,
      .max_turns = 200,
      .uses_repetition = false,
      .single_step_turns = true,
      .is_mirror_symmetric = true,
      .rulesets = kRulesets,
      .setups = kSetups,
  };

  using Board = DraughtsBoard<6, 6, 1>;
  using Bits = Board::Bits;
  using View = Board::View;
  using Position = Board::Position;
  static constexpr std::string_view kLetters = "P";
  static constexpr int kNumSquares = Board::kNumSquares;
  static constexpr std::array<Vector, 3> kSteps = {{{0, 1}, {1, 1}, {-1, 1}}};

  GameOptions options;

  void legal_actions(const Position& position, ActionList& list) const {
    list.clear();
    const View view = position.view();
    unrolled<3>([&]<int plane>() { Board::add(list, plane, steppers<plane>(view)); });
  }

  void apply(Position& position, Action action) const {
    const int square = action % kNumSquares;
    const int target = square + Board::offset(kSteps[action / kNumSquares]);
    const Bits enemy = Board::turned(position.enemy().occupied());
    position.move(0, square, target, enemy & Board::bit(target));
    position.end_turn();
  }

  Outcome outcome(const Position& position) const {
    const int other = 1 - position.to_move();
    const View view = position.view();
    if (position.enemy().occupied() & Board::kLastRank) return win(other, Termination::kTry);
    if (!view.own) return win(other, Termination::kNoPieces);
    if (!count_steps(view)) return win(other, Termination::kNoLegalTurn);
    return {};
  }

  Outcome adjudicate(const Position&, const History<Position>&) const { return {}; }

  void write_observation(const Position& position, int player, int, float* out) const {
    Board::write_pieces(position, player, kInfo.num_planes, out);
  }

  std::uint64_t key(const Position& position) const { return Board::key(position); }

  int num_pieces(const Position& position, int player) const {
    return Board::count(position.sides[player].occupied());
  }

  int evaluate(const Position& position) const {
    const View own = position.view(position.to_move()),
               enemy = position.view(1 - position.to_move());
    return 100 * (Board::count(own.own) - Board::count(own.enemy)) + count_steps(own) -
           count_steps(enemy);
  }

  Action mirror_action(Action action) const {
    const int plane = action / kNumSquares, square = action % kNumSquares;
    return (3 - plane) % 3 * kNumSquares + square / 6 * 6 + 5 - square % 6;
  }

  std::string action_to_text(const Position& position, Action action) const {
    return Board::move_to_text(position, action % kNumSquares, kSteps[action / kNumSquares], 1);
  }

  std::string to_fen(const Position& position) const { return Board::to_fen(position, kLetters); }

  Position from_fen(std::string_view fen) const {
    const Position position = Board::from_fen(fen, kLetters);
    Board::check_pending(position, false);
    return position;
  }

 private:
  template <int plane>
  static Bits steppers(const View& view) {
    const Bits targets = plane == 0 ? view.empty : view.empty | view.enemy;
    return view.own & Board::shift<-kSteps[plane]>(targets);
  }

  static int count_steps(const View& view) {
    int steps = 0;
    unrolled<3>([&]<int plane>() { steps += Board::count(steppers<plane>(view)); });
    return steps;
  }
};

static_assert(Game<Breakthrough>);

}  // namespace deskovky
