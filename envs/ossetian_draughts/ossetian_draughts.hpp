// Ossetian draughts, rules OD-1 to OD-3 of its README.
//
// 7 x 7, all squares, 21 men a side on three ranks; only men, no promotion. A man steps one square
// straight or diagonally forward and captures by a short jump in all eight directions. Capturing
// is compulsory with free choice, and a jumping man must go on while it can; what it jumps over is
// removed at once. A player without a step passes. The game ends when neither can step or one has
// no pieces left: the player with more pieces wins.
//
//   7  42 43 44 45 46 47 48        Each player's men are kept as that player sees them: own rank
//   .  .. .. .. .. .. .. ..        1 first, player 1's board turned by 180 degrees. The enemy
//   2   7  8  9 10 11 12 13        stands on square 48 - s.
//   1   0  1  2  3  4  5  6
//       a  b  c  d  e  f  g
//
// Action = plane * 49 + square. Planes 0-7: the man on `square` steps N NE E SE S SW W NW; planes
// 8-15: it jumps so. The last action, 784: pass.
// Observation planes, as `player` sees it: 0 own men, 1 enemy men, 2 the man that must go on.
#pragma once

#include "core/draughts.hpp"

namespace deskovky {

struct OssetianDraughts {
  static constexpr std::array<std::string_view, 1> kRulesets = {"standard"};
  static constexpr std::array<Setup, 1> kSetups = {
      {{"default", "mmmmmmm/mmmmmmm/mmmmmmm/7/MMMMMMM/MMMMMMM/MMMMMMM w - 0 1"}}};
  static constexpr GameInfo kInfo = {
      .id = "ossetian_draughts_v0",
      .num_ranks = 7,
      .num_files = 7,
      .num_action_planes = 16,
      .has_pass = true,
      .num_planes = 3,
      .max_turns = 500,
      .uses_repetition = false,
      .single_step_turns = false,
      .is_mirror_symmetric = true,
      .rulesets = kRulesets,
      .setups = kSetups,
  };

  using Board = DraughtsBoard<7, 7, 1>;
  using Bits = Board::Bits;
  using Side = Board::Side;
  using View = Board::View;
  using Position = Board::Position;
  static constexpr std::string_view kLetters = "M";
  static constexpr int kNumSquares = Board::kNumSquares, kMaxMen = 21;

  GameOptions options;

  void legal_actions(const Position& position, ActionList& list) const {
    list.clear();
    const View view = position.view();
    const Bits jumping = position.is_turn_open() ? Board::bit(position.pending) : view.own;
    unrolled<8>([&]<int direction>() {  // OD-2
      Board::add(list, 8 + direction, Board::jumpers<kDirections[direction]>(jumping, view));
    });
    if (!list.empty()) return;
    unrolled<8>([&]<int direction>() {  // OD-1
      if (!is_forward(direction)) return;
      Board::add(list, direction, Board::steppers<kDirections[direction]>(view.own, view));
    });
    if (list.empty()) list.push_back(kInfo.pass_action());  // OD-3
  }

  void apply(Position& position, Action action) const {
    if (action == kInfo.pass_action()) return position.pass();
    const int plane = action / kNumSquares, square = action % kNumSquares;
    const int offset = Board::offset(kDirections[plane % 8]);
    if (plane < 8) {
      position.move(0, square, square + offset, {});
      return position.end_turn();
    }
    const int target = square + 2 * offset;
    position.move(0, square, target, Board::bit(square + offset));
    if (can_jump(Board::bit(target), position.view())) {
      position.pending = target;
    } else {
      position.end_turn();
    }
  }

  bool is_whole_turn(const Position&, Action action) const { return action / kNumSquares < 8; }

  // OD-3.
  Outcome outcome(const Position& position) const {
    const Bits own = position.own().occupied(), enemy = position.enemy().occupied();
    if (!own) return win(1 - position.to_move(), Termination::kNoPieces);
    if (!enemy) return win(position.to_move(), Termination::kNoPieces);
    if (can_step(position.view(0)) || can_step(position.view(1))) return {};
    return stronger_wins(num_pieces(position, 0), num_pieces(position, 1), Termination::kBlocked);
  }

  Outcome adjudicate(const Position&, const History<Position>&) const { return {}; }

  void write_observation(const Position& position, int player, int, Planes& planes) const {
    Board::write_pieces(position, player, planes);
  }

  std::uint64_t key(const Position& position) const { return Board::key(position); }

  int num_pieces(const Position& position, int player) const {
    return Board::count(position.sides[player].occupied());
  }

  // In hundredths of a man.
  static constexpr auto kTerms = std::to_array<Term>({
      {"man", 100},
      {"step", 2},
      {"man's rank", -2},
  });
  static constexpr bool kCapturesAreCompulsory = true;

  std::array<int, kTerms.size()> features(const Position& position, int player) const {
    const View view = position.view(player);
    int steps = 0;
    unrolled<8>([&]<int direction>() {
      if (is_forward(direction)) {
        steps += Board::count(Board::steppers<kDirections[direction]>(view.own, view));
      }
    });
    return {Board::count(view.own), steps, Board::sum_of_ranks(view.own)};
  }

  // Captures.
  int urgency(const Position&, Action action) const {
    return 8 * kNumSquares <= action && action < kInfo.pass_action() ? 100 : 0;
  }

  Action mirror_action(Action action) const {
    if (action == kInfo.pass_action()) return action;
    const int plane = action / kNumSquares, square = action % kNumSquares;
    const int mirrored_plane = plane / 8 * 8 + (8 - plane % 8) % 8;
    return mirrored_plane * kNumSquares + square / 7 * 7 + 6 - square % 7;
  }

  std::string action_to_text(const Position& position, Action action) const {
    if (action == kInfo.pass_action()) return "pass";
    const int plane = action / kNumSquares;
    return Board::move_to_text(position, action % kNumSquares, kDirections[plane % 8],
                               1 + plane / 8);
  }

  std::string to_fen(const Position& position) const { return Board::to_fen(position, kLetters); }

  Position from_fen(std::string_view fen) const {
    const Position position = Board::from_fen(fen, kLetters);
    for (const Side& side : position.sides) Board::check_count(side.occupied(), kMaxMen, "men");
    Board::check_pending(position, can_jump(pending_man(position), position.view()));
    return position;
  }

 private:
  static constexpr bool is_forward(int direction) { return kDirections[direction].ranks > 0; }

  static Bits pending_man(const Position& position) {
    return position.is_turn_open() ? Board::bit(position.pending) & position.own().occupied() : 0;
  }

  static bool can_jump(Bits men, const View& view) {
    Bits jumpers = 0;
    unrolled<8>(
        [&]<int direction>() { jumpers |= Board::jumpers<kDirections[direction]>(men, view); });
    return jumpers != 0;
  }

  static bool can_step(const View& view) {
    bool found = false;
    unrolled<8>([&]<int direction>() {
      found = found ||
              (is_forward(direction) && Board::steppers<kDirections[direction]>(view.own, view));
    });
    return found || can_jump(view.own, view);
  }
};

static_assert(Game<OssetianDraughts>);

}  // namespace deskovky
