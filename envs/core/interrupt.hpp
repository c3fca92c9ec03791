// Ctrl-C during long native work, which runs without the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace deskovky {

// Raises KeyboardInterrupt when Ctrl-C was pressed; looks ten times a second only.
//
// Python handles signals in its main thread alone. Other threads must not even ask: at the end of
// the program the interpreter ends every thread that wants its lock, in the midst of C++ code.
class Interrupt {
 public:
  using Clock = std::chrono::steady_clock;

  // The caller holds the interpreter lock.
  Interrupt() {
    const auto threading = nanobind::module_::import_("threading");
    is_main_thread_ = threading.attr("current_thread")().is(threading.attr("main_thread")());
  }

  void check(Clock::time_point now = Clock::now()) {
    if (!is_main_thread_ || now < next_) return;
    next_ = now + kPause;
    const nanobind::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }

 private:
  static constexpr auto kPause = std::chrono::milliseconds(100);

  bool is_main_thread_;
  Clock::time_point next_ = Clock::now() + kPause;
};

}  // namespace deskovky
