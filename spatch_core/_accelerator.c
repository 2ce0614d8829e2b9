/* Calls of dispatchable functions that skip the wrapper's Python code.

   A wrapper (see spatch_core/_wrapper.py) is a plain Python function. `accelerate`
   replaces its vectorcall, the C function that CPython calls when the wrapper is called, by
   `dispatch` below. `dispatch` does what the wrapper's Python code does:

   1. It reads the tables in force from the context variable.
   2. It looks up the type of each dispatch argument, in nested dictionaries.
   3. It calls the implementation that it found with the arguments of the call.
   4. It lets the dispatcher handle an exception of the implementation, which may mean deferring.
   5. After NotImplemented, it lets the dispatcher call the next candidates.

   Where a table has no entry, it calls the same dispatcher as the Python code. Rare cases it leaves
   to the Python code, which stays unchanged: keywords that are not plain strings, deep recursion,
   and functions that a user gave other code.

   Invariants
   ----------
   Data of a wrapper. They are a `Tables` object in the wrapper's closure, where the Python code
   calls it as ``tables()``. So the garbage collector sees all that a wrapper refers to.

   Borrowed references. Between steps 1 and 3 no Python code runs and the global lock is held,
   so no other thread runs either. Arguments are kept alive by the caller, and with them their
   types. Tables are kept alive by the reference that step 1 returns. From step 3 on any code
   may run: it may empty the tables, give the function other code, or drop the function. So
   `dispatch` owns references to the `Tables` object and to the implementation.

   Answers. An answer of step 2 is remembered as borrowed pointers, and compared by pointer.
   It holds only while no dictionary on its way has changed: an entry keeps its key, the type,
   and its value, the implementation or the next dictionary, alive. CPython notifies the watcher
   before a watched dictionary changes or is freed. Each notification increments `generation`,
   which makes all answers of all wrappers stale, and is cheap because tables seldom change.

   CPython 3.12 and later with the global lock: the garbage collector runs between instructions
   of Python code only, not wherever C code creates an object. The main interpreter alone:
   watchers of dictionaries belong to one interpreter, and the static variables below to the
   process. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030C0000 || defined(PYPY_VERSION) || defined(Py_GIL_DISABLED)
#error "The extension needs CPython 3.12 or later with the global lock"
#endif

typedef struct {
    Py_ssize_t position; /* negative: keyword-only */
    PyObject *name;      /* interned; NULL: positional-only */
} Parameter;

#define LOG_ANSWERS 4
#define ANSWERS (1 << LOG_ANSWERS) /* slots for answers that a wrapper has */
#define MAX_TYPES 4      /* functions of more dispatch arguments remember no answers */
#define MAX_PARAMETERS 16 /* functions of more dispatch arguments are not accelerated */
#define MAX_DEPTH 32     /* nested calls of one function through C; then it runs Python code */

/* The callable for some types. All pointers are borrowed; see the invariants above. */
typedef struct {
    uint64_t generation; /* the answer holds while this equals the global `generation` */
    PyObject *table;
    PyTypeObject *types[MAX_TYPES];
    PyObject *target;
} Answer;

/* The data of a wrapper. Called from Python, it returns the tables in force. */
typedef struct {
    PyObject_VAR_HEAD     /* the size is the number of parameters */
    PyObject *code;       /* the wrapper's own code; NULL before it is accelerated */
    PyObject *variable;   /* the ContextVar that holds the tables */
    PyObject *dispatcher;
    PyObject *missing;    /* stands for arguments that were not given */
    Py_ssize_t place;     /* the function's index in the tables */
    Py_ssize_t usual;     /* in calls of so many positional arguments, the first are `values` */
    Answer *answers;      /* ANSWERS slots: `no_answers` before the first is written */
    unsigned conflicts;   /* number of valid answers whose slot other types asked for */
    int depth;            /* calls under way, in all threads together */
    Parameter parameters[]; /* the dispatch arguments */
} Tables;

static Answer no_answers[ANSWERS];
static PyTypeObject *tables_type;
static int watcher = -1;        /* id of the watcher; negative if CPython had none left */
static uint64_t generation = 1; /* incremented at each change of a watched dictionary */
static vectorcallfunc run_code; /* the vectorcall of plain Python functions */

static int
traverse(Tables *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->code);
    Py_VISIT(self->variable);
    Py_VISIT(self->dispatcher);
    return 0;
}

static void
dealloc(Tables *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        Py_XDECREF(self->parameters[i].name);
    }
    Py_XDECREF(self->code);
    Py_XDECREF(self->variable);
    Py_XDECREF(self->dispatcher);
    Py_XDECREF(self->missing);
    if (self->answers != no_answers) {
        PyMem_Free(self->answers);
    }
    type->tp_free(self);
    Py_DECREF(type);
}

/* Return the data of a wrapper, borrowed from its closure; NULL if the function is no wrapper. */
static inline Tables *
tables_of(PyObject *function)
{
    PyObject *closure = ((PyFunctionObject *)function)->func_closure;
    /* From the end: free variables are sorted by name, and `tables` is among the last. */
    for (Py_ssize_t i = closure == NULL ? 0 : PyTuple_GET_SIZE(closure); i > 0; i--) {
        PyObject *value = PyCell_GET(PyTuple_GET_ITEM(closure, i - 1));
        if (value != NULL && Py_IS_TYPE(value, tables_type)) {
            return (Tables *)value;
        }
    }
    return NULL;
}

/* Return the value of a keyword argument, borrowed; NULL if there is none. */
static PyObject *
find_keyword(PyObject *name, PyObject *const *values, PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *given = PyTuple_GET_ITEM(names, i);
        /* Names from `**mapping` need not be interned; `name` is, and is compared by pointer. */
        if (given == name ||
            (!PyUnicode_CHECK_INTERNED(given) && PyUnicode_Compare(given, name) == 0)) {
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

/* The watcher: CPython calls this before it changes or frees a watched dictionary, perhaps in the
   middle of a garbage collection. It must not run Python code, and does not. */
static int
notice_change(PyDict_WatchEvent Py_UNUSED(event), PyObject *Py_UNUSED(table),
              PyObject *Py_UNUSED(key), PyObject *Py_UNUSED(value))
{
    generation++;
    return 0;
}

/* Look up the callable for the types of `values`, the dispatch arguments, in a function's table, a
   dictionary of dictionaries. Return it borrowed; NULL, perhaps with an exception, if the table has
   no entry. */
static PyObject *
look_up(PyObject *table, PyObject *const *values, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count && table != NULL; i++) {
        if (!PyDict_CheckExact(table) || !is_compared_by_identity(Py_TYPE(values[i]))) {
            return NULL;
        }
        table = PyDict_GetItemWithError(table, (PyObject *)Py_TYPE(values[i]));
    }
    return table;
}

/* Return the slot for the answer for the types of `values`. */
static inline Answer *
slot_of(Tables *tables, PyObject *const *values)
{
    uint64_t mixed = 0;
    for (Py_ssize_t i = 0; i < Py_SIZE(tables); i++) {
        /* Fibonacci hashing */
        mixed = (mixed ^ (uintptr_t)Py_TYPE(values[i])) * 0x9E3779B97F4A7C15;
    }
    return &tables->answers[mixed >> (64 - LOG_ANSWERS)];
}

/* Return the callable that is remembered for a table and the types of `values`, borrowed; NULL if
   there is none. */
static inline PyObject *
recall(Tables *tables, PyObject *table, PyObject *const *values)
{
    Answer *answer = slot_of(tables, values);
    if (answer->generation != generation || answer->table != table) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < Py_SIZE(tables); i++) {
        if (answer->types[i] != Py_TYPE(values[i])) {
            return NULL;
        }
    }
    return answer->target;
}

/* Remember an answer that was just looked up. No Python code has run since the look-up, so the
   dictionaries still have the items that led to `target`. */
static void
remember(Tables *tables, PyObject *table, PyObject *const *values, PyObject *target)
{
    if (Py_SIZE(tables) > MAX_TYPES || watcher < 0) {
        return;
    }
    if (tables->answers == no_answers) {
        Answer *answers = PyMem_Calloc(ANSWERS, sizeof(Answer));
        if (answers == NULL) {
            return;
        }
        tables->answers = answers;
    }
    Answer *answer = slot_of(tables, values);
    /* Calls that alternate between types with one slot replace a valid answer only once in 16
       times: watching and writing cost more than the look-up. */
    if (answer->generation == generation && answer->table == table && ++tables->conflicts % 16) {
        return;
    }
    PyObject *watched = table;
    answer->generation = 0; /* no answer, if it cannot be written to the end */
    for (Py_ssize_t i = 0; i < Py_SIZE(tables); i++) {
        if (PyDict_Watch(watcher, watched) < 0) {
            PyErr_Clear();
            return;
        }
        answer->types[i] = Py_TYPE(values[i]);
        watched = PyDict_GetItemWithError(watched, (PyObject *)Py_TYPE(values[i]));
    }
    answer->generation = generation;
    answer->table = table;
    answer->target = target;
}

static PyObject *
as_tuple(PyObject *const *values, Py_ssize_t count)
{
    PyObject *made = PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count && made != NULL; i++) {
        PyTuple_SET_ITEM(made, i, Py_NewRef(values[i]));
    }
    return made;
}

/* Write the dispatch arguments to `values`, borrowed. Return 0 if the wrapper's Python code must
   run the call. */
static int
collect(Tables *tables, PyObject **values, PyObject *const *args, Py_ssize_t nargs,
        PyObject *kwnames)
{
    /* The hash and == of subclasses of str may run Python code. */
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(kwnames, i))) {
            return 0;
        }
    }
    for (Py_ssize_t i = 0; i < Py_SIZE(tables); i++) {
        Parameter *parameter = &tables->parameters[i];
        PyObject *value = NULL;
        if (parameter->position >= 0 && parameter->position < nargs) {
            value = args[parameter->position];
        }
        else if (kwnames != NULL && parameter->name != NULL) {
            value = find_keyword(parameter->name, args + nargs, kwnames);
        }
        values[i] = value == NULL ? tables->missing : value;
    }
    return 1;
}

/* Let the dispatcher find the callable, and store it in the table. Any Python code may run. */
static Py_NO_INLINE PyObject *
fill(Tables *tables, PyObject *const *values)
{
    PyObject *given = as_tuple(values, Py_SIZE(tables));
    if (given == NULL) {
        return NULL;
    }
    return PyObject_CallMethod(tables->dispatcher, "fill", "nN", tables->place, given);
}

/* Return the callable as a new reference. NULL with an exception: the call has failed. NULL
   without one: the wrapper's Python code must run the call. */
static inline PyObject *
find(Tables *tables, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *collected[MAX_PARAMETERS], *in_force, *found = NULL;
    PyObject *const *values = args;
    if (nargs < tables->usual) {
        if (!collect(tables, collected, args, nargs, kwnames)) {
            return NULL;
        }
        values = collected;
    }
    if (PyContextVar_Get(tables->variable, NULL, &in_force) < 0 || in_force == NULL) {
        return NULL;
    }
    if (PyList_CheckExact(in_force) && tables->place < PyList_GET_SIZE(in_force)) {
        PyObject *table = PyList_GET_ITEM(in_force, tables->place);
        found = recall(tables, table, values);
        if (found == NULL) {
            found = look_up(table, values, Py_SIZE(tables));
            if (found != NULL) {
                remember(tables, table, values, found);
            }
        }
        Py_XINCREF(found);
    }
    /* May free the tables, if another state is the default now; `found` must be owned. */
    Py_DECREF(in_force);
    return found != NULL || PyErr_Occurred() ? found : fill(tables, values);
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
tell(Tables *tables, const char *name, PyObject *called, PyObject *const *args, Py_ssize_t nargs,
     PyObject *kwnames, PyObject *error)
{
    PyObject *positional = as_tuple(args, nargs), *keywords = PyDict_New(), *result = NULL;
    int failed = positional == NULL || keywords == NULL;
    for (Py_ssize_t i = 0; !failed && kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        failed = PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) < 0;
    }
    if (!failed) {
        result = PyObject_CallMethod(tables->dispatcher, name, error == NULL ? "nOOO" : "nOOOO",
                                     tables->place, called, positional, keywords, error);
    }
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

/* Go on after an implementation that has raised an exception, or returned NotImplemented. */
static Py_NO_INLINE PyObject *
go_on(Tables *tables, PyObject *called, PyObject *result, PyObject *const *args, Py_ssize_t nargs,
      PyObject *kwnames)
{
    PyObject *deferring = NULL;
    if (result == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyObject *error = PyErr_GetRaisedException();
        deferring = tell(tables, "failed", called, args, nargs, kwnames, error);
        if (deferring == Py_None) {
            PyErr_SetRaisedException(Py_NewRef(error));
        }
        else if (deferring != NULL) {
            called = deferring;
            result = Py_NewRef(Py_NotImplemented);
        }
        Py_DECREF(error);
    }
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        result = tell(tables, "deferred", called, args, nargs, kwnames, NULL);
    }
    Py_XDECREF(deferring);
    return result;
}

/* The vectorcall of an accelerated wrapper. */
static PyObject *
dispatch(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Tables *tables = tables_of(function);
    /* The code is another one if a tool has exchanged it, such as a profiler. */
    if (tables == NULL || tables->code != ((PyFunctionObject *)function)->func_code) {
        return run_code(function, args, nargsf, kwnames);
    }
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    Py_INCREF(tables); /* the call may drop the function */
    PyObject *found = find(tables, args, nargs, kwnames);
    if (found == NULL) {
        Py_DECREF(tables);
        return PyErr_Occurred() ? NULL : run_code(function, args, nargsf, kwnames);
    }
    /* CPython calls Python functions from Python code without using the C stack, but each nested
       call of `dispatch` takes about 600 bytes of it. So a function that calls itself deeply runs
       its Python code until this call returns, in other threads too. */
    int is_deep = ++tables->depth > MAX_DEPTH;
    if (is_deep) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, run_code);
    }
    PyObject *result = call(found, args, nargsf, kwnames);
    if (result == NULL || result == Py_NotImplemented) {
        result = go_on(tables, found, result, args, nargs, kwnames);
    }
    tables->depth--;
    if (is_deep) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, dispatch);
    }
    Py_DECREF(tables);
    Py_DECREF(found);
    return result;
}

/* Return the tables in force, for the wrapper's Python code, which calls ``tables()``. */
static PyObject *
get(Tables *self, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    PyObject *found;
    return PyContextVar_Get(self->variable, Py_None, &found) < 0 ? NULL : found;
}

/* Tables(variable, dispatcher, index, positions, names, missing): `positions` are those of the
   dispatch arguments, negative for keyword-only ones; `names` are None for positional-only ones. */
static PyObject *
new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *variable, *dispatcher, *positions, *names, *missing;
    Py_ssize_t place;
    if (!PyArg_ParseTuple(args, "O!OnO!O!O:Tables", &PyContextVar_Type, &variable, &dispatcher,
                          &place, &PyTuple_Type, &positions, &PyTuple_Type, &names, &missing)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(positions);
    if (place < 1 || PyTuple_GET_SIZE(names) != count) {
        return PyErr_Format(PyExc_ValueError, "index is not positive, or names are missing");
    }
    Tables *self = (Tables *)type->tp_alloc(type, count);
    if (self == NULL) {
        return NULL;
    }
    self->variable = Py_NewRef(variable);
    self->dispatcher = Py_NewRef(dispatcher);
    self->missing = Py_NewRef(missing);
    self->place = place;
    self->answers = no_answers;
    self->usual = count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        self->parameters[i].position = PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, i));
        if (self->parameters[i].position != i) {
            self->usual = PY_SSIZE_T_MAX;
        }
        if (PyUnicode_CheckExact(name)) {
            self->parameters[i].name = Py_NewRef(name);
            PyUnicode_InternInPlace(&self->parameters[i].name);
        }
    }
    if (PyErr_Occurred()) {
        Py_CLEAR(self); /* a position is no integer */
    }
    return (PyObject *)self;
}

static PyType_Slot type_slots[] = {
    {Py_tp_new, new},
    {Py_tp_call, get},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {0, NULL},
};

static PyType_Spec type_spec = {
    .name = "spatch_core._accelerator.Tables",
    .basicsize = sizeof(Tables),
    .itemsize = sizeof(Parameter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = type_slots,
};

/* Let calls of a wrapper, with a `Tables` object in its closure, go through C. */
static PyObject *
accelerate(PyObject *Py_UNUSED(module), PyObject *function)
{
    Tables *tables = PyFunction_Check(function) ? tables_of(function) : NULL;
    /* Few enough for `find`; none of them would make the key of the tables that of `missing`. */
    if (tables != NULL && Py_SIZE(tables) > 0 && Py_SIZE(tables) <= MAX_PARAMETERS) {
        if (run_code == NULL) { /* CPython exports no name for it */
            run_code = ((PyFunctionObject *)function)->vectorcall;
        }
        Py_XSETREF(tables->code, Py_NewRef(((PyFunctionObject *)function)->func_code));
        PyFunction_SetVectorcall((PyFunctionObject *)function, dispatch);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"accelerate", accelerate, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

/* Forget the objects of an interpreter that has ended. A program that embeds Python may start
   another one, which imports this module again. */
static void
forget(void)
{
    watcher = -1;
    tables_type = NULL;
}

static int
execute(PyObject *module)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "only the main interpreter is accelerated");
        return -1;
    }
    if (watcher < 0) {
        watcher = PyDict_AddWatcher(notice_change);
        PyErr_Clear(); /* other extensions have taken all; no answers are remembered */
    }
    if (tables_type == NULL) { /* once for all modules, if it is imported again */
        tables_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &type_spec, NULL);
        Py_AtExit(forget);
    }
    return tables_type == NULL ? -1 : PyModule_AddType(module, tables_type);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_accelerator",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__accelerator(void)
{
    return PyModuleDef_Init(&definition);
}
