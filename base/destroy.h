// Owns a handle of a C library: std::unique_ptr<BIO, Destroy<BIO_free>> calls BIO_free at its end.
#pragma once

namespace bloomring {

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const {
    destroy(handle);
  }
};

}  // namespace bloomring
