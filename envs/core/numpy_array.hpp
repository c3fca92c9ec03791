// New NumPy arrays. numpy.empty is several times faster than handing NumPy memory of ours, and the
// result is an ordinary array that owns its data.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace deskovky {

// Returns an array of `shape`, filled by write(T* data).
template <class T, class Write>
nanobind::object new_array(std::initializer_list<std::size_t> shape, const Write& write) {
  static_assert(std::is_same_v<T, bool> || std::is_same_v<T, float> ||
                std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint8_t>);
  constexpr const char* kName = std::is_same_v<T, bool>           ? "bool"
                                : std::is_same_v<T, float>        ? "float32"
                                : std::is_same_v<T, std::uint8_t> ? "uint8"
                                                                  : "int32";
  // Kept for good: a destructor would run after the interpreter's end.
  static PyObject* const empty =
      nanobind::object(nanobind::module_::import_("numpy").attr("empty")).release().ptr();
  static PyObject* const dtype =
      nanobind::object(nanobind::module_::import_("numpy").attr("dtype")(kName)).release().ptr();
  const auto sizes = nanobind::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  Py_ssize_t i = 0;
  for (const std::size_t size : shape) PyTuple_SetItem(sizes.ptr(), i++, PyLong_FromSize_t(size));
  PyObject* arguments[] = {sizes.ptr(), dtype};
  auto array = nanobind::steal(PyObject_Vectorcall(empty, arguments, 2, nullptr));
  Py_buffer buffer;
  if (!array.is_valid() || PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_WRITABLE) != 0) {
    throw nanobind::python_error();
  }
  write(static_cast<T*>(buffer.buf));
  PyBuffer_Release(&buffer);
  return array;
}

}  // namespace deskovky
