// What CUDA and CuPy's headers offer to a kernel, in plain C++, for one thread at a time.

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <algorithm>
#include <complex>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <ucontext.h>

#define __device__
#define __forceinline__ inline
#define __global__
#define __host__
#define __launch_bounds__(...)
#define __restrict__
#define __shared__ static  // one block runs at a time
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_assume(...)  // some are not so, which nothing has come of
#define CUDART_INF INFINITY
#define CUDART_INF_F INFINITY
#define CUDART_NAN NAN
#define CUDART_NAN_F NAN

// The names that CUDA has without a namespace. Not `using namespace std`: that has a min and a
// max, which take no numbers of two types.
using std::arg;
using std::complex;
using std::conj;
using std::imag;
using std::norm;
using std::polar;
using std::real;
namespace thrust {
using namespace std;
}

template <class A, class B>
inline typename std::common_type<A, B>::type min(A a, B b) {
  typedef typename std::common_type<A, B>::type C;
  if constexpr (std::is_floating_point<C>::value) return std::fmin((C)a, (C)b);
  else return (C)b < (C)a ? (C)b : (C)a;
}

template <class A, class B>
inline typename std::common_type<A, B>::type max(A a, B b) {
  typedef typename std::common_type<A, B>::type C;
  if constexpr (std::is_floating_point<C>::value) return std::fmax((C)a, (C)b);
  else return (C)a < (C)b ? (C)b : (C)a;
}

struct short2 { short x, y; };
struct int2 { int x, y; };
inline short2 make_short2(short x, short y) { return {x, y}; }
inline int2 make_int2(int x, int y) { return {x, y}; }

// Numbers of 16 bits, which sources name and the emulator does not compute with.
struct float16 {
  unsigned short bits;
  float16(float = 0) { abort(); }
  operator float() const { abort(); }
};
typedef float16 half;
inline half __hmax(half, half) { abort(); }
inline half __hmin(half, half) { abort(); }

#ifdef __cpp_lib_math_special_functions
inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
#endif

inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

// One thread runs at a time, so that nothing else reads or writes meanwhile.
template <class T, class V>
inline T atomicAdd(T* target, V value) { T old = *target; *target = old + (T)value; return old; }
template <class T, class V>
inline T atomicMin(T* target, V value) { T old = *target; *target = min(old, (T)value); return old; }
template <class T, class V>
inline T atomicMax(T* target, V value) { T old = *target; *target = max(old, (T)value); return old; }
template <class T, class E, class V>
inline T atomicCAS(T* target, E expected, V value) {
  T old = *target;
  if (old == (T)expected) *target = (T)value;
  return old;
}

namespace cupy {
namespace type_traits {
template <bool B, class T, class F> using conditional = std::conditional<B, T, F>;
template <class A, class B> using is_same = std::is_same<A, B>;
}
}

// An array of any strides, which an elementwise kernel takes elements of by their number.
template <class T>
struct CArray {
  T* data;
  const ptrdiff_t* lengths;
  const ptrdiff_t* steps;  // in bytes
  int dimensions;

  T& operator[](ptrdiff_t number) const {
    char* position = (char*)data;
    for (int axis = dimensions - 1; axis >= 0; --axis) {
      position += (number % lengths[axis]) * steps[axis];
      number /= lengths[axis];
    }
    return *(T*)position;
  }
  ptrdiff_t size() const {
    ptrdiff_t product = 1;
    for (int axis = 0; axis < dimensions; ++axis) product *= lengths[axis];
    return product;
  }
  const ptrdiff_t* shape() const { return lengths; }
  const ptrdiff_t* strides() const { return steps; }
};

struct CIndexer {
  ptrdiff_t length;
  ptrdiff_t size() const { return length; }
};

struct dim3 { unsigned x, y, z; };
static dim3 threadIdx, blockIdx, blockDim, gridDim;

template <class... Parameters, size_t... Numbers>
inline void call_kernel(void (*kernel)(Parameters...), void** given, std::index_sequence<Numbers...>) {
  kernel(*(typename std::remove_reference<Parameters>::type*)given[Numbers]...);
}

// Call `visit` with the place of every thread of a block, or of every block of a grid, set.
template <class Visit>
inline void for_each(dim3& place, const dim3& counts, Visit visit) {
  for (place.z = 0; place.z < counts.z; ++place.z)
    for (place.y = 0; place.y < counts.y; ++place.y)
      for (place.x = 0; place.x < counts.x; ++place.x) visit();
}

// Run every thread of every block, one after the other.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const unsigned* grid, const unsigned* block, void** given) {
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  for_each(blockIdx, gridDim, [&]() {
    for_each(threadIdx, blockDim, [&]() {
      call_kernel(kernel, given, std::index_sequence_for<Parameters...>());
    });
  });
}

// Threads that wait for each other each have a stack, and take turns: a thread runs until it
// comes to a barrier, or to its end.
static const size_t stack_size = 1 << 16;
static ucontext_t between_turns;
static ucontext_t* current_turn;
static void (*run_current)();
static bool has_ended;

inline void __syncthreads() { swapcontext(current_turn, &between_turns); }

static void take_turns() {
  run_current();
  has_ended = true;
}

template <class... Parameters>
void launch_in_turns(void (*kernel)(Parameters...), const unsigned* grid, const unsigned* block, void** given) {
  static void (*chosen)(Parameters...);
  static void** arguments;
  chosen = kernel;
  arguments = given;
  run_current = []() { call_kernel(chosen, arguments, std::index_sequence_for<Parameters...>()); };
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  const size_t count = (size_t)blockDim.x * blockDim.y * blockDim.z;
  std::vector<ucontext_t> turns(count);
  char* stacks = (char*)malloc(count * stack_size);
  for_each(blockIdx, gridDim, [&]() {
    std::vector<bool> ended(count);
    size_t left = count;
    for (size_t number = 0; number < count; ++number) {
      getcontext(&turns[number]);
      turns[number].uc_stack.ss_sp = stacks + number * stack_size;
      turns[number].uc_stack.ss_size = stack_size;
      turns[number].uc_link = &between_turns;
      makecontext(&turns[number], take_turns, 0);
    }
    while (left) {
      size_t number = 0;
      for_each(threadIdx, blockDim, [&]() {
        if (!ended[number]) {
          current_turn = &turns[number];
          has_ended = false;
          swapcontext(&between_turns, current_turn);
          if (has_ended) {
            ended[number] = true;
            --left;
          }
        }
        ++number;
      });
    }
  });
  free(stacks);
}
