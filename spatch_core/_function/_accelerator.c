/* Calls of dispatchable functions that skip the wrapper's Python code.

   A wrapper (see spatch_core/_function/wrapper.py) is a plain Python function. `accelerate`
   replaces its vectorcall, the C function that CPython calls when the wrapper is called, by
   `dispatch` below. `dispatch` does what the wrapper's Python code does:

   1. It reads the tables in force from the context variable.
   2. It looks up the type of each dispatch argument, in nested dictionaries.
   3. It calls the implementation that it found with the arguments of the call.
   4. It lets the dispatcher handle an exception of the implementation, which may mean deferring.
   5. After NotImplemented, it lets the dispatcher call the next candidates.

   Where a table has no entry, and where a metaclass overrides == or hash, it calls the same
   dispatcher as the Python code. All other cases it leaves to the Python code, which stays
   unchanged: keywords that are not plain strings, and functions that a user gave other code.

   Invariants
   ----------
   Data of a wrapper. They are stored as extra data of its code object, not of the function.
   So a copy of the function shares them, and a function that gets other code loses them. They
   own references to names, to the context variable and to a weak link to the dispatcher. The
   garbage collector does not traverse code objects: they must own nothing that leads back to
   the wrapper.

   Borrowed references. Between steps 1 and 3 no Python code runs and the global lock is held,
   so no other thread runs either. Arguments are kept alive by the caller, and with them their
   types. Tables are kept alive by the reference that step 1 returns. From step 3 on any code
   may run: it may empty the tables, give the function other code, or drop the function. So
   `dispatch` owns references to the code object, with the data, and to the implementation.

   Answers. An answer of step 2 is remembered as borrowed pointers, and compared by pointer.
   It holds only while no dictionary on its way has changed: an entry keeps its key, the type,
   and its value, the implementation or the next dictionary, alive. CPython notifies the watcher
   before a watched dictionary changes or is freed. Each notification increments `generation`,
   which makes all answers of all wrappers stale, and is cheap because tables seldom change.

   CPython 3.12 and later with the global lock: the garbage collector runs between instructions
   of Python code only, not wherever C code creates an object. The main interpreter alone: extra
   data of code objects and watchers of dictionaries belong to one interpreter, and the static
   variables below to the process.

   Leaving a block of options. Signal handlers run in Python code only. So `leave` has reset the
   context variable before one can raise; a method in Python can be interrupted before its first
   instruction. The mark of an observed block may stay in force; that costs time, but changes no result. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030C0000 || defined(PYPY_VERSION) || defined(Py_GIL_DISABLED)
#error "The extension needs CPython 3.12 or later with the global lock"
#endif

#if defined(_WIN32)
#include <windows.h>
#elif defined(__linux__) || defined(__APPLE__)
#include <pthread.h>
#endif

#if defined(_MSC_VER)
#define THREAD_LOCAL __declspec(thread)
#define NOT_INLINED __declspec(noinline)
#else
#define THREAD_LOCAL _Thread_local
#define NOT_INLINED __attribute__((noinline))
#endif

typedef struct {
    Py_ssize_t position; /* negative: keyword-only */
    PyObject *name;      /* interned; NULL: positional-only */
} Parameter;

#define LOG_ANSWERS 4
#define ANSWERS (1 << LOG_ANSWERS) /* slots for answers that a wrapper has */
#define MAX_TYPES 4      /* functions of more dispatch arguments remember no answers */
#define MAX_PARAMETERS 16 /* functions of more dispatch arguments are not accelerated */
#define MAX_DEPTH 100    /* nested calls through C; deeper ones run Python code */
#define FEW 8            /* nested calls through C that any thread's stack has room for */
#define RESERVE (128 * 1024) /* bytes of the stack that other code may need */

/* The callable for some types. All pointers are borrowed; see the invariants above. */
typedef struct {
    uint64_t generation; /* the answer holds while this equals the global `generation` */
    PyObject *table;
    PyTypeObject *types[MAX_TYPES];
    PyObject *target;
} Answer;

/* The data of a wrapper. */
typedef struct {
    Answer *answers;      /* ANSWERS slots; NULL before the first is needed */
    unsigned conflicts;   /* number of valid answers whose slot other types asked for */
    PyObject *variable;   /* the ContextVar that holds the tables */
    PyObject *dispatcher; /* a Link, which holds the dispatcher weakly */
    PyObject *missing;    /* stands for arguments that were not given */
    PyObject *index;      /* the function's index in the tables, as a Python int */
    Py_ssize_t place;     /* the same as a C integer */
    Py_ssize_t count;     /* of the parameters */
    Parameter parameters[]; /* the dispatch arguments */
} Wrapper;

static Py_ssize_t slot = -1;    /* index of the extra data of code objects */
static int watcher = -1;        /* id of the watcher; negative if CPython had none left */
static uint64_t generation = 1; /* incremented at each change of a watched dictionary */
static int depth;               /* nested calls of `dispatch`, in all threads together */
static PyObject *deferred_name;
static PyObject *failed_name;
static PyObject *fill_name;
static PyObject *entered_name;
static PyObject *variable_name;
static vectorcallfunc run_code; /* the vectorcall of plain Python functions */

/* CPython calls this when it frees a code object. */
static void
free_wrapper(void *memory)
{
    Wrapper *wrapper = memory;
    if (wrapper == NULL) {
        return;
    }
    for (Py_ssize_t i = 0; i < wrapper->count; i++) {
        Py_XDECREF(wrapper->parameters[i].name);
    }
    Py_DECREF(wrapper->variable);
    Py_DECREF(wrapper->dispatcher);
    Py_DECREF(wrapper->missing);
    Py_DECREF(wrapper->index);
    PyMem_Free(wrapper->answers);
    PyMem_Free(wrapper);
}

/* Return the data of a wrapper, borrowed from its code object; NULL without an exception if
   the function is no wrapper, or a user gave it other code. */
static Wrapper *
wrapper_of(PyObject *function)
{
    void *found = NULL;
    PyObject *code = ((PyFunctionObject *)function)->func_code;
    if (PyUnstable_Code_GetExtra(code, slot, &found) < 0) {
        PyErr_Clear();
        return NULL;
    }
    return found;
}

/* Whether the names of all keyword arguments are plain strings. The hash and == of subclasses
   may run Python code. */
static inline int
are_plain(PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names, i))) {
            return 0;
        }
    }
    return 1;
}

/* Return the value of a keyword argument, borrowed; NULL without an exception if there is none. */
static PyObject *
find_keyword(PyObject *name, PyObject *const *values, PyObject *names)
{
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyTuple_GET_ITEM(names, i) == name) {
            return values[i];
        }
    }
    /* Names from `**mapping` need not be interned. */
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) {
            return values[i];
        }
    }
    return NULL;
}

/* Whether a class can be looked up in a dictionary without running Python code. The classes
   that are keys of tables compare by identity too: the dispatcher stores no others. */
static inline int
is_compared_by_identity(PyTypeObject *cls)
{
    PyTypeObject *metaclass = Py_TYPE(cls);
    return metaclass == &PyType_Type ||
           (metaclass->tp_hash == PyType_Type.tp_hash &&
            metaclass->tp_richcompare == PyType_Type.tp_richcompare);
}

/* Return an item of a dictionary, borrowed; NULL if there is none, or if `table` is something
   else. */
static inline PyObject *
look_up(PyObject *table, PyTypeObject *cls)
{
    if (!PyDict_CheckExact(table) || !is_compared_by_identity(cls)) {
        return NULL;
    }
    return PyDict_GetItemWithError(table, (PyObject *)cls);
}

static inline int
are_same(PyTypeObject *const *types, PyTypeObject *const *others, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (types[i] != others[i]) {
            return 0;
        }
    }
    return 1;
}

/* The watcher: CPython calls this before it changes or frees a watched dictionary, perhaps in the
   middle of a garbage collection. It must not run Python code, and does not. */
static int
notice_change(PyDict_WatchEvent Py_UNUSED(event), PyObject *Py_UNUSED(table),
              PyObject *Py_UNUSED(key), PyObject *Py_UNUSED(value))
{
    generation++;
    return 0;
}

/* Look up the callable in a function's table. Return it borrowed; NULL, perhaps with an
   exception, if the table has no entry. */
static PyObject *
look_up_all(PyObject *table, PyTypeObject *const *types, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count && table != NULL; i++) {
        table = look_up(table, types[i]);
    }
    return table;
}

/* Return the slot for the answer for these types; NULL if the wrapper remembers no answers. */
static inline Answer *
place_of_answer(Wrapper *wrapper, PyTypeObject *const *types)
{
    if (wrapper->count > MAX_TYPES || watcher < 0) {
        return NULL;
    }
    if (wrapper->answers == NULL) {
        wrapper->answers = PyMem_Calloc(ANSWERS, sizeof(Answer));
        if (wrapper->answers == NULL) {
            return NULL;
        }
    }
    uint64_t mixed = 0;
    for (Py_ssize_t i = 0; i < wrapper->count; i++) {
        mixed = (mixed ^ (uintptr_t)types[i]) * 0x9E3779B97F4A7C15; /* Fibonacci hashing */
    }
    return &wrapper->answers[mixed >> (64 - LOG_ANSWERS)];
}

/* Remember an answer that was just looked up. No Python code has run since the look-up, so the
   dictionaries still have the items that led to `target`. */
static void
remember(Answer *answer, PyObject *table, PyTypeObject *const *types, Py_ssize_t count,
         PyObject *target)
{
    PyObject *watched = table;
    answer->generation = 0; /* no answer, if it cannot be written to the end */
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyDict_Watch(watcher, watched) < 0) {
            PyErr_Clear();
            return;
        }
        answer->types[i] = types[i];
        watched = PyDict_GetItemWithError(watched, (PyObject *)types[i]);
    }
    answer->generation = generation;
    answer->table = table;
    answer->target = target;
}

/* Let the dispatcher find the callable, and store it in the table. Return a new reference. Any
   Python code may run. */
static PyObject *
fill(Wrapper *wrapper, PyObject *const *values)
{
    PyObject *given = PyTuple_New(wrapper->count);
    if (given == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < wrapper->count; i++) {
        PyTuple_SET_ITEM(given, i, Py_NewRef(values[i]));
    }
    PyObject *found = PyObject_CallMethodObjArgs(wrapper->dispatcher, fill_name, wrapper->index,
                                                 given, NULL);
    Py_DECREF(given);
    return found;
}

/* Return the callable as a new reference. NULL with an exception: the call has failed. NULL
   without one: the wrapper's Python code must run the call. */
static PyObject *
find(Wrapper *wrapper, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *values[MAX_PARAMETERS];
    PyTypeObject *types[MAX_PARAMETERS];
    Py_ssize_t count = wrapper->count;
    if (kwnames != NULL && !are_plain(kwnames)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Parameter *parameter = &wrapper->parameters[i];
        PyObject *value = NULL;
        if (parameter->position >= 0 && parameter->position < nargs) {
            value = args[parameter->position];
        }
        else if (kwnames != NULL && parameter->name != NULL) {
            value = find_keyword(parameter->name, args + nargs, kwnames);
        }
        values[i] = value == NULL ? wrapper->missing : value;
        types[i] = Py_TYPE(values[i]);
    }
    PyObject *tables;
    if (PyContextVar_Get(wrapper->variable, NULL, &tables) < 0 || tables == NULL) {
        return NULL;
    }
    if (!PyList_CheckExact(tables)) {
        Py_DECREF(tables);
        return NULL;
    }
    PyObject *found = NULL;
    if (wrapper->place < PyList_GET_SIZE(tables)) {
        PyObject *table = PyList_GET_ITEM(tables, wrapper->place);
        Answer *answer = place_of_answer(wrapper, types);
        int is_good =
            answer != NULL && answer->generation == generation && answer->table == table;
        if (is_good && are_same(answer->types, types, count)) {
            found = answer->target;
        }
        else {
            found = look_up_all(table, types, count);
            /* Calls that alternate between types with one slot replace a valid answer only
               once in 16 times: watching and writing cost more than the look-up. */
            if (answer != NULL && found != NULL && !(is_good && ++wrapper->conflicts % 16)) {
                remember(answer, table, types, count, found);
            }
        }
        Py_XINCREF(found);
    }
    /* May free the tables, if another state is the default now; `found` must be owned. */
    Py_DECREF(tables);
    return found != NULL || PyErr_Occurred() ? found : fill(wrapper, values);
}

/* Call an implementation. */
static inline PyObject *
call(PyObject *found, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    if (PyFunction_Check(found) && ((PyFunctionObject *)found)->vectorcall == run_code) {
        return run_code(found, args, nargsf, kwnames);
    }
    /* Frames of Python code count for the recursion limit. A cycle without any does not, such
       as wrappers that are each other's implementations: the C stack would overflow. */
    if (Py_EnterRecursiveCall("")) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(found, args, nargsf, kwnames);
    Py_LeaveRecursiveCall();
    return result;
}

/* Call a method of the dispatcher with the index, `called`, the positional and the keyword
   arguments of the call, and `error` unless that is NULL. Return a new reference. */
static PyObject *
tell(Wrapper *wrapper, PyObject *name, PyObject *called, PyObject *const *args, Py_ssize_t nargs,
     PyObject *kwnames, PyObject *error)
{
    PyObject *result = NULL;
    PyObject *positional = PyTuple_New(nargs);
    PyObject *keywords = PyDict_New();
    if (positional == NULL || keywords == NULL) {
        goto done;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
    }
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) < 0) {
            goto done;
        }
    }
    result = PyObject_CallMethodObjArgs(wrapper->dispatcher, name, wrapper->index, called,
                                        positional, keywords, error, NULL);
done:
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

/* Let the dispatcher handle the exception of an implementation. Return the argument `called` for
   its method `deferred`, as a new reference, if the implementation defers; else NULL, with the
   exception set again. */
static NOT_INLINED PyObject *
judge(Wrapper *wrapper, PyObject *called, PyObject *const *args, Py_ssize_t nargs,
      PyObject *kwnames)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return NULL;
    }
    PyObject *error = PyErr_GetRaisedException();
    PyObject *found = tell(wrapper, failed_name, called, args, nargs, kwnames, error);
    if (found == NULL && !PyErr_ExceptionMatches(PyExc_Exception)) {
        Py_DECREF(error); /* an interrupt */
        return NULL;
    }
    if (found == NULL || found == Py_None) {
        Py_XDECREF(found);
        PyErr_SetRaisedException(error); /* steals the reference; replaces an error of `failed` */
        return NULL;
    }
    Py_DECREF(error);
    return found;
}

/* Return the lowest address of this thread's stack; the highest address if it is unknown. */
static uintptr_t
end_of_stack(void)
{
    uintptr_t lowest = UINTPTR_MAX;
#if defined(_WIN32)
    ULONG_PTR low, high;
    GetCurrentThreadStackLimits(&low, &high);
    lowest = low;
#elif defined(__APPLE__)
    pthread_t thread = pthread_self();
    /* macOS returns the address of the highest end. */
    lowest = (uintptr_t)pthread_get_stackaddr_np(thread) - pthread_get_stacksize_np(thread);
#elif defined(__linux__)
    pthread_attr_t attributes;
    void *address;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
            lowest = (uintptr_t)address;
        }
        pthread_attr_destroy(&attributes);
    }
#endif
    return lowest;
}

/* Whether the stack of this thread could overflow if calls went on through C. Not
   inlined: it would lengthen the usual path of `dispatch`. */
static NOT_INLINED int
is_stack_short(void)
{
    static THREAD_LOCAL uintptr_t end; /* asked for once: Linux reads a file for it */
    if (end == 0) {
        end = end_of_stack();
    }
    uintptr_t here = (uintptr_t)&here;
    return here < end || here - end < RESERVE;
}

/* The vectorcall of an accelerated wrapper. */
static PyObject *
dispatch(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Wrapper *wrapper = wrapper_of(function);
    if (wrapper == NULL) {
        return run_code(function, args, nargsf, kwnames);
    }
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    /* The call may give the function other code; the data must outlive it. */
    PyObject *code = Py_NewRef(((PyFunctionObject *)function)->func_code);
    PyObject *found = find(wrapper, args, nargs, kwnames);
    if (found == NULL) {
        Py_DECREF(code);
        return PyErr_Occurred() ? NULL : run_code(function, args, nargsf, kwnames);
    }
    /* CPython calls Python functions from Python code without using the C stack, but each nested
       call of `dispatch` takes about 600 bytes of it. So a function that calls itself deeply runs
       its Python code until this call returns, in other threads too. */
    int is_deep = ++depth > FEW && (depth > MAX_DEPTH || is_stack_short());
    if (is_deep) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, run_code);
    }
    PyObject *result = call(found, args, nargsf, kwnames);
    if (result == NULL) {
        PyObject *raised = judge(wrapper, found, args, nargs, kwnames);
        if (raised != NULL) {
            Py_SETREF(found, raised);
            result = Py_NewRef(Py_NotImplemented);
        }
    }
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        result = tell(wrapper, deferred_name, found, args, nargs, kwnames, NULL);
    }
    depth--;
    /* Not if the function has got other code, or has taken its shortcut, during the call. */
    if (is_deep && wrapper_of(function) == wrapper) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, dispatch);
    }
    Py_DECREF(code);
    Py_DECREF(found);
    return result;
}

PyDoc_STRVAR(prepare_doc,
"prepare(wrapper, variable, dispatcher, index, positions, names, missing, /)\n--\n\n"
"Attach the data for calls through C to a wrapper's code object.\n\n"
"Parameters\n----------\n"
"wrapper : types.FunctionType\n    The wrapper; its code must be its own.\n"
"variable : contextvars.ContextVar\n    Holds the tables in force.\n"
"dispatcher : object\n    Its `fill` is called where a table has no entry, its `failed` after an\n"
"    exception, and its `deferred` after NotImplemented.\n"
"index : int\n    The function's index in the tables.\n"
"positions : tuple of int\n"
"    Of the dispatch arguments; negative for keyword-only ones.\n"
"names : tuple of str or None\n    Of the dispatch arguments; None for positional-only ones.\n"
"missing : object\n    Stands for arguments that were not given.\n");

static PyObject *
prepare(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *variable, *dispatcher, *index, *positions, *names, *missing;
    if (!PyArg_ParseTuple(args, "O!O!OO!O!O!O:prepare", &PyFunction_Type, &function,
                          &PyContextVar_Type, &variable, &dispatcher, &PyLong_Type, &index,
                          &PyTuple_Type, &positions, &PyTuple_Type, &names, &missing)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(positions);
    Py_ssize_t place = PyLong_AsSsize_t(index);
    if (place < 1 || PyTuple_GET_SIZE(names) != count) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "index is not positive, or names are missing");
        }
        return NULL;
    }
    if (count < 1 || count > MAX_PARAMETERS) {
        Py_RETURN_NONE;
    }
    if (wrapper_of(function) != NULL) { /* calls under way may use the data it has */
        PyErr_SetString(PyExc_ValueError, "the code of this wrapper was prepared before");
        return NULL;
    }
    Wrapper *wrapper = PyMem_Calloc(1, sizeof(Wrapper) + (size_t)count * sizeof(Parameter));
    if (wrapper == NULL) {
        return PyErr_NoMemory();
    }
    wrapper->variable = Py_NewRef(variable);
    wrapper->dispatcher = Py_NewRef(dispatcher);
    wrapper->missing = Py_NewRef(missing);
    wrapper->index = Py_NewRef(index);
    wrapper->place = place;
    wrapper->count = count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        Parameter *parameter = &wrapper->parameters[i];
        parameter->position = PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, i));
        if (parameter->position == -1 && PyErr_Occurred()) {
            goto error;
        }
        if (PyUnicode_CheckExact(name)) {
            parameter->name = Py_NewRef(name);
            PyUnicode_InternInPlace(&parameter->name);
        }
        else if (name != Py_None) {
            PyErr_SetString(PyExc_TypeError, "names must be strings or None");
            goto error;
        }
    }
    if (PyUnstable_Code_SetExtra(((PyFunctionObject *)function)->func_code, slot, wrapper) < 0) {
        goto error;
    }
    Py_RETURN_NONE;
error:
    free_wrapper(wrapper);
    return NULL;
}

PyDoc_STRVAR(accelerate_doc,
"accelerate(wrapper, /)\n--\n\n"
"Let calls of a wrapper go through C; other functions are left as they are.");

static PyObject *
accelerate(PyObject *Py_UNUSED(module), PyObject *function)
{
    if (PyFunction_Check(function) && wrapper_of(function) != NULL) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, dispatch);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(slow_down_doc,
"slow_down(wrapper, /)\n--\n\n"
"Let calls of a wrapper run its Python code.");

static PyObject *
slow_down(PyObject *Py_UNUSED(module), PyObject *function)
{
    if (PyFunction_Check(function) &&
        ((PyFunctionObject *)function)->vectorcall == dispatch) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, run_code);
    }
    Py_RETURN_NONE;
}

/* Reset the variable of a token. Python code runs only for a token of another context, whose
   error shows the token as text. */
static int
reset(PyObject *token)
{
    PyObject *variable = PyObject_GetAttr(token, variable_name);
    int status = variable == NULL ? -1 : PyContextVar_Reset(variable, token);
    Py_XDECREF(variable);
    return status;
}

/* The `__exit__` of options. `_entered` has a token for each block; for an observed one, a tuple of
   the tokens of the mark and of the tables. If the last block was not entered in this context, the
   Python method `_leave_any` finds the right one; an interrupt may keep that from running. */
static PyObject *
leave(PyObject *self, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(nargs))
{
    PyObject *all = PyObject_GetAttr(self, entered_name);
    if (all == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyList_CheckExact(all) ? PyList_GET_SIZE(all) : 0;
    PyObject *last = Py_XNewRef(count ? PyList_GET_ITEM(all, count - 1) : NULL);
    int is_observed = last != NULL && PyTuple_CheckExact(last) && PyTuple_GET_SIZE(last) == 2;
    PyObject *token = is_observed ? PyTuple_GET_ITEM(last, 1) : last;
    PyObject *result = NULL;
    if (token == NULL || !PyContextToken_CheckExact(token) || reset(token) < 0) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_ValueError) ||
            PyErr_ExceptionMatches(PyExc_RuntimeError)) {
            PyErr_Clear();
            result = PyObject_CallMethod(self, "_leave_any", NULL);
        }
    }
    else {
        /* Freeing the old tables may have run Python code, which may have changed the list. */
        for (Py_ssize_t i = PyList_GET_SIZE(all); i > 0; i--) {
            if (PyList_GET_ITEM(all, i - 1) == last) {
                PyList_SetSlice(all, i - 1, i, NULL);
                break;
            }
        }
        PyObject *mark = is_observed ? PyTuple_GET_ITEM(last, 0) : NULL;
        result = is_observed ? PyObject_CallMethod(self, "_unobserve", "O", mark)
                             : Py_NewRef(Py_None);
        if (result == NULL) { /* an interrupt: the observation ends with the block all the same */
            PyObject *error = PyErr_GetRaisedException();
            if (reset(mark) < 0) {
                PyErr_Clear(); /* it was reset before */
            }
            PyErr_SetRaisedException(error);
        }
    }
    Py_XDECREF(last);
    Py_DECREF(all);
    return result;
}

PyDoc_STRVAR(leave_doc,
"__exit__($self, kind=None, error=None, traceback=None, /)\n--\n\n"
"Put in force again what was in force before.");

static PyMethodDef leave_method = {
    "__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, leave_doc,
};

PyDoc_STRVAR(protect_exit_doc,
"protect_exit(options, /)\n--\n\n"
"Give a class of options an `__exit__` that no signal handler can keep from running.");

static PyObject *
protect_exit(PyObject *Py_UNUSED(module), PyObject *options)
{
    PyObject *method = PyType_Check(options)
                           ? PyDescr_NewMethod((PyTypeObject *)options, &leave_method)
                           : PyErr_Format(PyExc_TypeError, "%R is no class", options);
    int is_set = method == NULL ? -1 : PyObject_SetAttrString(options, "__exit__", method);
    Py_XDECREF(method);
    return is_set < 0 ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"protect_exit", protect_exit, METH_O, protect_exit_doc},
    {"prepare", prepare, METH_VARARGS, prepare_doc},
    {"accelerate", accelerate, METH_O, accelerate_doc},
    {"slow_down", slow_down, METH_O, slow_down_doc},
    {NULL, NULL, 0, NULL},
};

/* Set `run_code`: CPython exports no name for the vectorcall of Python functions. */
static int
find_run_code(void)
{
    PyObject *globals = PyDict_New();
    PyObject *code = (PyObject *)PyCode_NewEmpty("", "", 1);
    PyObject *function = globals && code ? PyFunction_New(code, globals) : NULL;
    if (function != NULL) {
        run_code = ((PyFunctionObject *)function)->vectorcall;
    }
    Py_XDECREF(function);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    return function == NULL ? -1 : 0;
}

/* Forget the ids and strings of an interpreter that has ended. A program that embeds Python may
   start another one, which imports this module again. */
static void
forget(void)
{
    slot = watcher = -1;
    deferred_name = failed_name = fill_name = entered_name = variable_name = NULL;
}

static int
execute(PyObject *Py_UNUSED(module))
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "only the main interpreter is accelerated");
        return -1;
    }
    if (run_code == NULL && find_run_code() < 0) {
        return -1;
    }
    if (watcher < 0) {
        watcher = PyDict_AddWatcher(notice_change);
        PyErr_Clear(); /* other extensions have taken all; no answers are remembered */
    }
    if (slot < 0) {
        slot = PyUnstable_Eval_RequestCodeExtraIndex(free_wrapper);
        Py_AtExit(forget);
    }
    if (slot < 0) { /* other extensions have taken all */
        PyErr_SetString(PyExc_ImportError, "code objects have no slot for extra data left");
        return -1;
    }
    struct {
        PyObject **name;
        const char *text;
    } names[] = {{&deferred_name, "deferred"}, {&failed_name, "failed"}, {&fill_name, "fill"},
                 {&entered_name, "_entered"}, {&variable_name, "var"}};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(names); i++) {
        if (*names[i].name == NULL) {
            *names[i].name = PyUnicode_InternFromString(names[i].text);
        }
        if (*names[i].name == NULL) {
            return -1;
        }
    }
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    /* Interpreters with a shared lock ignore this; `execute` refuses them too. */
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_accelerator",
    .m_doc = "Calls of dispatchable functions that skip the wrapper's Python code.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__accelerator(void)
{
    return PyModuleDef_Init(&definition);
}
