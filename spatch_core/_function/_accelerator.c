/* Calls of dispatchable functions without the wrapper's Python code.

   A wrapper (see _wrapper.py) stays a plain Python function. `accelerate` exchanges what
   CPython calls when it is called, its "vectorcall", for `dispatch` below, which does what the
   usual branches of the wrapper's code do:

   1. it gets the tables in force from the context variable;
   2. looks up the type of each dispatch argument, one dictionary in the other;
   3. calls what it found with the very arguments that it was given;
   4. goes on with the next candidate where the result is NotImplemented.

   Where a table has no entry, or a metaclass has ideas of its own about == or hash, it asks
   the same dispatcher as that code does. Whatever else it does not know, it leaves to the
   wrapper's own code, which nothing here changes: where a keyword is no plain string, for
   example, or where somebody has exchanged the function's code.

   What was found last is remembered, so that usually comparing a few pointers is enough. The
   pointers are borrowed: they mean something for as long as none of the dictionaries on the
   way has changed or gone, which CPython tells whoever watches a dictionary.

   What `dispatch` needs to know is kept beside the code object, as CPython lets extensions do
   for code, so that a copy of the function or other code in it never finds what is not its
   own. Only the names, the context variable and a link to the dispatcher, which is weak, are
   kept alive by it.

   For CPython 3.12 and later, with its global lock: between two of the steps above nobody
   else runs, so that borrowed references stay good. For the main interpreter alone: what is
   kept beside code and who watches dictionaries are an interpreter's own. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030C0000 || defined(PYPY_VERSION) || defined(Py_GIL_DISABLED)
#error "spatch_core is accelerated on CPython 3.12 and later alone, with its global lock"
#endif

typedef struct {
    Py_ssize_t position; /* negative: it is given by keyword alone */
    PyObject *name;      /* NULL: it is given by position alone */
} Parameter;

#define LOG_REMEMBERED 4
#define REMEMBERED (1 << LOG_REMEMBERED) /* answers of a wrapper */
#define LONGEST 4       /* dispatch arguments, so that an answer is remembered */
#define DEEP 100        /* calls inside each other that may go through C */
#define MOST 16         /* dispatch arguments, so that calls go through C at all */

typedef struct {
    uint64_t generation; /* when this was true */
    PyObject *table;
    PyTypeObject *types[LONGEST];
    PyObject *target;
} Answer;

typedef struct {
    Answer *answers;      /* NULL before the first */
    unsigned conflicts;   /* how often two of them wanted the same place */
    PyObject *variable;   /* the ContextVar that holds the tables */
    PyObject *dispatcher; /* what stands for it without keeping it alive */
    PyObject *missing;    /* stands for what was not given */
    PyObject *index;      /* the function's place in the tables, for Python */
    Py_ssize_t place;     /* and for C */
    Py_ssize_t count;
    Parameter parameters[]; /* the dispatch arguments */
} Wrapper;

static Py_ssize_t slot = -1; /* where code objects keep their Wrapper */
static int watcher = -1;      /* which watches dictionaries; negative if there is none */
static uint64_t generation = 1; /* how often one of them has changed */
static int depth;               /* how many calls lie in each other now, in all threads */
static PyObject *deferred_name;
static PyObject *fill_name;
static vectorcallfunc run_code; /* what CPython calls when any other function is called */

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

/* Return what is known about a function; NULL if it is no wrapper, or runs other code now. */
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

/* Set `value` to that of a keyword, if it was given. Borrowed. Return false if only Python
   code can say whether it was. */
static int
find_keyword(PyObject **value, PyObject *name, PyObject *const *values, PyObject *names)
{
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyTuple_GET_ITEM(names, i) == name) {
            *value = values[i];
            return 1;
        }
    }
    for (Py_ssize_t i = 0; i < count; i++) { /* not every name is interned */
        PyObject *given = PyTuple_GET_ITEM(names, i);
        if (!PyUnicode_CheckExact(given)) {
            return 0; /* its class may have ideas of its own about == */
        }
        if (PyUnicode_Compare(given, name) == 0) {
            *value = values[i];
            return 1;
        }
    }
    return 1;
}

/* Whether a class may be looked up in a dictionary without running any Python code. */
static inline int
is_compared_by_identity(PyTypeObject *cls)
{
    PyTypeObject *metaclass = Py_TYPE(cls);
    return metaclass == &PyType_Type ||
           (metaclass->tp_hash == PyType_Type.tp_hash &&
            metaclass->tp_richcompare == PyType_Type.tp_richcompare);
}

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

static int
notice_change(PyDict_WatchEvent Py_UNUSED(event), PyObject *Py_UNUSED(table),
              PyObject *Py_UNUSED(key), PyObject *Py_UNUSED(value))
{
    generation++;
    return 0;
}

/* Look up what to call in a function's table. Borrowed; NULL, perhaps with an exception, if the
   wrapper's code has to say. */
static PyObject *
look_up_all(PyObject *table, PyTypeObject *const *types, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count && table != NULL; i++) {
        table = look_up(table, types[i]);
    }
    return table;
}

/* Return where the answer for these types is remembered; NULL if none ever is. */
static inline Answer *
place_of_answer(Wrapper *wrapper, PyTypeObject *const *types)
{
    if (wrapper->count > LONGEST || watcher < 0) {
        return NULL;
    }
    if (wrapper->answers == NULL) {
        wrapper->answers = PyMem_Calloc(REMEMBERED, sizeof(Answer));
        if (wrapper->answers == NULL) {
            return NULL;
        }
    }
    uint64_t mixed = 0;
    for (Py_ssize_t i = 0; i < wrapper->count; i++) {
        mixed = (mixed ^ (uintptr_t)types[i]) * 0x9E3779B97F4A7C15; /* Fibonacci hashing */
    }
    return &wrapper->answers[mixed >> (64 - LOG_REMEMBERED)];
}

/* Remember an answer that was just looked up. */
static void
remember(Answer *answer, PyObject *table, PyTypeObject *const *types, Py_ssize_t count,
         PyObject *target)
{
    PyObject *watched = table;
    answer->generation = 0; /* it is none while it is half another one */
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

/* Let the dispatcher decide what to call, and put it into the table. */
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

/* Return what to call; NULL, perhaps with an exception, if the wrapper's code has to say. */
static PyObject *
find(Wrapper *wrapper, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *values[MOST];
    PyTypeObject *types[MOST];
    Py_ssize_t count = wrapper->count;
    for (Py_ssize_t i = 0; i < count; i++) {
        Parameter *parameter = &wrapper->parameters[i];
        PyObject *value = NULL;
        if (parameter->position >= 0 && parameter->position < nargs) {
            value = args[parameter->position];
        }
        else if (kwnames != NULL && parameter->name != NULL &&
                 !find_keyword(&value, parameter->name, args + nargs, kwnames)) {
            return NULL;
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
            /* Types that share a place do not take it from each other at every call. */
            if (answer != NULL && found != NULL && !(is_good && ++wrapper->conflicts % 16)) {
                remember(answer, table, types, count, found);
            }
        }
        Py_XINCREF(found);
    }
    Py_DECREF(tables);
    return found != NULL || PyErr_Occurred() ? found : fill(wrapper, values);
}

/* Call what was found. */
static inline PyObject *
call(PyObject *found, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    if (PyFunction_Check(found) && ((PyFunctionObject *)found)->vectorcall == run_code) {
        return run_code(found, args, nargsf, kwnames);
    }
    /* Python code counts how deep calls lie in each other. What leads back to `dispatch`
       without any, such as a wrapper that implements another one, or itself, does not. */
    if (Py_EnterRecursiveCall("")) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(found, args, nargsf, kwnames);
    Py_LeaveRecursiveCall();
    return result;
}

/* Go on with the candidate after `called`. */
static PyObject *
defer(Wrapper *wrapper, PyObject *called, PyObject *const *args, Py_ssize_t nargs,
      PyObject *kwnames)
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
    result = PyObject_CallMethodObjArgs(wrapper->dispatcher, deferred_name, wrapper->index,
                                        called, positional, keywords, NULL);
done:
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

/* What CPython calls when an accelerated wrapper is called. */
static PyObject *
dispatch(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Wrapper *wrapper = wrapper_of(function);
    if (wrapper == NULL) {
        return run_code(function, args, nargsf, kwnames);
    }
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    /* The wrapper's data may lose its last reference meanwhile. */
    PyObject *code = Py_NewRef(((PyFunctionObject *)function)->func_code);
    PyObject *found = find(wrapper, args, nargs, kwnames);
    if (found == NULL) {
        Py_DECREF(code);
        return PyErr_Occurred() ? NULL : run_code(function, args, nargsf, kwnames);
    }
    /* Each call through C takes some of the C stack, of which CPython allows less than of its
       own. So a function that goes on calling itself does so through its Python code. */
    int is_deep = ++depth > DEEP;
    if (is_deep) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, run_code);
    }
    PyObject *result = call(found, args, nargsf, kwnames);
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        result = defer(wrapper, found, args, nargs, kwnames);
    }
    depth--;
    if (is_deep && wrapper_of(function) == wrapper) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, dispatch);
    }
    Py_DECREF(code);
    Py_DECREF(found);
    return result;
}

PyDoc_STRVAR(prepare_doc,
"prepare(wrapper, variable, dispatcher, index, positions, names, missing, /)\n--\n\n"
"Tell what calls of a wrapper need to know.\n\n"
"Parameters\n----------\n"
"wrapper : types.FunctionType\n    The wrapper; its code must be its own.\n"
"variable : contextvars.ContextVar\n    Holds the tables in force.\n"
"dispatcher : object\n    Its `fill` is called where a table has no entry, and its `deferred`\n"
"    after NotImplemented.\n"
"index : int\n    The function's place in the tables.\n"
"positions : tuple of int\n"
"    Of the dispatch arguments; negative for those given by keyword alone.\n"
"names : tuple of str or None\n    Likewise; None for those given by position alone.\n"
"missing : object\n    Stands for what was not given.\n");

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
    if (count < 1 || count > MOST) {
        Py_RETURN_NONE;
    }
    if (wrapper_of(function) != NULL) { /* calls under way may use what it has */
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
"Let calls of a wrapper go through C; nothing else is accelerated.");

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
"Let calls of a wrapper run its code, as those of every other function do.");

static PyObject *
slow_down(PyObject *Py_UNUSED(module), PyObject *function)
{
    if (PyFunction_Check(function) &&
        ((PyFunctionObject *)function)->vectorcall == dispatch) {
        PyFunction_SetVectorcall((PyFunctionObject *)function, run_code);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"prepare", prepare, METH_VARARGS, prepare_doc},
    {"accelerate", accelerate, METH_O, accelerate_doc},
    {"slow_down", slow_down, METH_O, slow_down_doc},
    {NULL, NULL, 0, NULL},
};

/* Set `run_code`; CPython has no public name for it. */
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

/* Forget what is the interpreter's, which has ended: a program may start another one. */
static void
forget(void)
{
    slot = watcher = -1;
    deferred_name = fill_name = NULL;
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
        PyErr_Clear(); /* others have taken all there are: nothing is remembered */
    }
    if (slot < 0) {
        slot = PyUnstable_Eval_RequestCodeExtraIndex(free_wrapper);
        Py_AtExit(forget);
    }
    if (slot < 0) { /* other extensions have taken all there are */
        PyErr_SetString(PyExc_ImportError, "code objects have no room for what they need");
        return -1;
    }
    if (deferred_name == NULL) {
        deferred_name = PyUnicode_InternFromString("deferred");
    }
    if (fill_name == NULL) {
        fill_name = PyUnicode_InternFromString("fill");
    }
    return deferred_name == NULL || fill_name == NULL ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    /* Only some kinds of interpreters heed this; `execute` has the last word. */
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_accelerator",
    .m_doc = "Calls of dispatchable functions without the wrapper's Python code.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__accelerator(void)
{
    return PyModuleDef_Init(&definition);
}
