/* Looks up adopted functions in the tables in force, and attributes of modules.

   `Lookup` and `attribute_getter` do the same as `PythonLookup` and `python_attribute_getter` in
   spatch_core/_function/lookup.py.

   Invariants
   ----------
   Hashing and comparing a key or a type may run Python code, which may empty the tables or let the
   process-wide default change. So `look_up` owns references to the tables and to the table that it
   looks into. `indices` only grows, and no key gets another index: what `index_of` remembers stays
   right. An exception of a look-up is dropped, because `fill` decides, and raises if needed.

   There is no static state: each interpreter may have its own module. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030C0000 || defined(PYPY_VERSION) || defined(Py_GIL_DISABLED)
#error "The extension needs CPython 3.12 or later with the global lock"
#endif

#define LOG_PLACES 5
#define PLACES (1 << LOG_PLACES) /* slots for indices that a lookup remembers */

/* A cached index. The key is owned, so no other object can get its address. */
typedef struct {
    PyObject *key;
    Py_ssize_t index;
} Place;

typedef struct {
    PyObject_HEAD
    PyObject *variable; /* the ContextVar that holds the tables */
    PyObject *indices;  /* a dict: indices in the tables by the keys of functions */
    PyObject *fill;
    PyObject *out;      /* the strings "out" and "where" */
    PyObject *where;
    Place places[PLACES];
} Lookup;

static int
traverse(Lookup *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->variable);
    Py_VISIT(self->indices);
    Py_VISIT(self->fill);
    for (Py_ssize_t i = 0; i < PLACES; i++) {
        Py_VISIT(self->places[i].key);
    }
    return 0;
}

static int
clear(Lookup *self)
{
    Py_CLEAR(self->variable);
    Py_CLEAR(self->indices);
    Py_CLEAR(self->fill);
    Py_CLEAR(self->out);
    Py_CLEAR(self->where);
    for (Py_ssize_t i = 0; i < PLACES; i++) {
        Py_CLEAR(self->places[i].key);
    }
    return 0;
}

static void
dealloc(Lookup *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *
new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *variable, *indices, *fill;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0) {
        PyErr_SetString(PyExc_TypeError, "Lookup() takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!O!O:Lookup", &PyContextVar_Type, &variable, &PyDict_Type,
                          &indices, &fill)) {
        return NULL;
    }
    Lookup *self = (Lookup *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->variable = Py_NewRef(variable);
    self->indices = Py_NewRef(indices);
    self->fill = Py_NewRef(fill);
    self->out = PyUnicode_InternFromString("out");
    self->where = PyUnicode_InternFromString("where");
    if (self->out == NULL || self->where == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* Return the key of an entry, borrowed. For a single type, `fill` stores the entry under the type
   itself, too, which is hashed and compared faster than a tuple. A type with another metaclass is
   looked up by its tuple. */
static inline PyObject *
short_key(PyObject *types)
{
    if (PyTuple_CheckExact(types) && PyTuple_GET_SIZE(types) == 1 &&
        Py_IS_TYPE(PyTuple_GET_ITEM(types, 0), &PyType_Type)) {
        return PyTuple_GET_ITEM(types, 0);
    }
    return types;
}

/* Return the index of a key; -1, perhaps with an exception, if it has none. */
static inline Py_ssize_t
index_of(Lookup *self, PyObject *key)
{
    uint64_t mixed = (uintptr_t)key * 0x9E3779B97F4A7C15; /* Fibonacci hashing */
    Place *place = &self->places[mixed >> (64 - LOG_PLACES)];
    if (place->key == key) {
        return place->index;
    }
    PyObject *found = PyDict_GetItemWithError(self->indices, key);
    if (found == NULL) {
        return -1;
    }
    Py_ssize_t index = PyLong_AsSsize_t(found);
    /* Tuples are left out: each call of a method of a ufunc makes a new one. The old key goes last,
       because freeing it may run Python code, which may come here. */
    if (!PyTuple_CheckExact(key)) {
        PyObject *before = place->key;
        place->key = Py_NewRef(key);
        place->index = index;
        Py_XDECREF(before);
    }
    return index;
}

/* Return the entry of the table in force, as a new reference; NULL, perhaps with an exception, if
   there is none. */
static PyObject *
look_up(Lookup *self, PyObject *key, PyObject *types)
{
    PyObject *tables = NULL;
    PyObject *found = NULL;
    Py_ssize_t index = index_of(self, key);
    if (index < 0) {
        return NULL;
    }
    if (PyContextVar_Get(self->variable, NULL, &tables) < 0 || tables == NULL) {
        return NULL;
    }
    if (PyList_CheckExact(tables) && index > 0 && index < PyList_GET_SIZE(tables)) {
        PyObject *table = Py_NewRef(PyList_GET_ITEM(tables, index));
        if (PyDict_CheckExact(table)) {
            found = Py_XNewRef(PyDict_GetItemWithError(table, short_key(types)));
        }
        Py_DECREF(table);
    }
    Py_DECREF(tables);
    return found;
}

static PyObject *
find_or_fill(Lookup *self, PyObject *key, PyObject *types)
{
    PyObject *found = look_up(self, key, types);
    if (found != NULL) {
        return found;
    }
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) {
            return NULL; /* an interrupt */
        }
        PyErr_Clear(); /* such as an error of a metaclass */
    }
    PyObject *given[3] = {NULL, key, types};
    return PyObject_Vectorcall(self->fill, given + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

PyDoc_STRVAR(find_doc,
"find($self, key, types, /)\n--\n\nReturn the callable for these types, or None.");

static PyObject *
find(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2) {
        PyErr_Format(PyExc_TypeError, "lookup() takes an identity and the types, not %zd arguments",
                     nargs);
        return NULL;
    }
    return find_or_fill((Lookup *)self, args[0], args[1]);
}

/* Append the types of the items of a tuple, except that at `left_out`. */
static Py_ssize_t
add_types(PyObject *types, Py_ssize_t place, PyObject *items, Py_ssize_t left_out)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        if (i != left_out) {
            PyTuple_SET_ITEM(types, place++, Py_NewRef(Py_TYPE(PyTuple_GET_ITEM(items, i))));
        }
    }
    return place;
}

PyDoc_STRVAR(find_ufunc_doc,
"find_ufunc($self, ufunc, method, inputs, kwargs, /)\n--\n\n"
"Return the callable for a call of a ufunc or of one of its methods, or None.");

static PyObject *
find_ufunc(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    Lookup *self = (Lookup *)object;
    if (nargs != 4 || !PyUnicode_Check(args[1]) || !PyTuple_Check(args[2]) ||
        !PyDict_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError,
                        "find_ufunc() takes a ufunc, the name of a method, a tuple and a dict");
        return NULL;
    }
    PyObject *inputs = args[2];
    PyObject *out = NULL;
    PyObject *where = NULL;
    if (PyDict_GET_SIZE(args[3]) > 0) {
        out = PyDict_GetItemWithError(args[3], self->out);
        where = PyDict_GetItemWithError(args[3], self->where);
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    int is_call = PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0;
    Py_ssize_t count = PyTuple_GET_SIZE(inputs);
    Py_ssize_t left_out = -1; /* the place of the indices */
    if (!is_call && count > 1 &&
        (PyUnicode_CompareWithASCIIString(args[1], "at") == 0 ||
         PyUnicode_CompareWithASCIIString(args[1], "reduceat") == 0)) {
        left_out = 1;
    }
    Py_ssize_t outs = out == NULL ? 0 : PyTuple_Check(out) ? PyTuple_GET_SIZE(out) : 1;
    PyObject *types = PyTuple_New(count - (left_out >= 0) + outs + (where != NULL));
    if (types == NULL) {
        return NULL;
    }
    Py_ssize_t place = add_types(types, 0, inputs, left_out);
    if (out != NULL && PyTuple_Check(out)) {
        place = add_types(types, place, out, -1);
    }
    else if (out != NULL) {
        PyTuple_SET_ITEM(types, place++, Py_NewRef(Py_TYPE(out)));
    }
    if (where != NULL) {
        PyTuple_SET_ITEM(types, place++, Py_NewRef(Py_TYPE(where)));
    }
    PyObject *key = is_call ? Py_NewRef(args[0]) : PyTuple_Pack(2, args[0], args[1]);
    PyObject *found = key == NULL ? NULL : find_or_fill(self, key, types);
    Py_XDECREF(key);
    Py_DECREF(types);
    return found;
}

static PyMethodDef methods[] = {
    {"find", (PyCFunction)(void (*)(void))find, METH_FASTCALL, find_doc},
    {"find_ufunc", (PyCFunction)(void (*)(void))find_ufunc, METH_FASTCALL, find_ufunc_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(lookup_doc, "Lookup(variable, indices, fill, /)\n--\n\nLooks up adopted functions.");

static PyType_Slot type_slots[] = {
    {Py_tp_doc, (void *)lookup_doc},
    {Py_tp_new, new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec type_spec = {
    .name = "spatch_core._function._lookup.Lookup",
    .basicsize = sizeof(Lookup),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = type_slots,
};

static int
execute(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &type_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}

/* The places in the tuple that is the `self` of a module's `__getattr__`. */
enum { VARIABLE, VALUES, FIND, STATE, BACKEND };

/* Return ``variable.get()[0].state.backend``, as a new reference, or NULL with an exception. */
static PyObject *
current_backend(PyObject *self)
{
    PyObject *tables = NULL;
    PyObject *state = NULL;
    PyObject *backend = NULL;
    if (PyContextVar_Get(PyTuple_GET_ITEM(self, VARIABLE), NULL, &tables) < 0) {
        return NULL;
    }
    if (tables != NULL && PyList_CheckExact(tables) && PyList_GET_SIZE(tables) > 0) {
        PyObject *scope = Py_NewRef(PyList_GET_ITEM(tables, 0));
        state = PyObject_GetAttr(scope, PyTuple_GET_ITEM(self, STATE));
        Py_DECREF(scope);
    }
    else {
        PyErr_SetString(PyExc_TypeError, "the variable holds no tables");
    }
    Py_XDECREF(tables);
    if (state != NULL) {
        backend = PyObject_GetAttr(state, PyTuple_GET_ITEM(self, BACKEND));
        Py_DECREF(state);
    }
    return backend;
}

static PyObject *
get_attribute(PyObject *self, PyObject *name)
{
    PyObject *found = NULL;
    PyObject *backend = current_backend(self);
    if (backend == NULL) {
        return NULL;
    }
    /* Comparing names may run Python code, which may forget the values. */
    PyObject *values =
        Py_XNewRef(PyDict_GetItemWithError(PyTuple_GET_ITEM(self, VALUES), backend));
    Py_DECREF(backend);
    if (values != NULL && PyDict_CheckExact(values)) {
        found = Py_XNewRef(PyDict_GetItemWithError(values, name));
    }
    Py_XDECREF(values);
    if (found == NULL && !PyErr_Occurred()) {
        found = PyObject_CallOneArg(PyTuple_GET_ITEM(self, FIND), name);
    }
    return found;
}

PyDoc_STRVAR(get_attribute_doc,
"__getattr__($self, name, /)\n--\n\nReturn the attribute of the current backend.");

static PyMethodDef get_attribute_method = {
    "__getattr__", get_attribute, METH_O, get_attribute_doc,
};

PyDoc_STRVAR(attribute_getter_doc,
"attribute_getter($self, variable, values, find, module, /)\n--\n\n"
"Return the ``__getattr__`` of the module of this name.");

static PyObject *
attribute_getter(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *variable, *values, *find, *module;
    if (!PyArg_ParseTuple(args, "O!O!OU:attribute_getter", &PyContextVar_Type, &variable,
                          &PyDict_Type, &values, &find, &module)) {
        return NULL;
    }
    PyObject *bound = Py_BuildValue("(OOOss)", variable, values, find, "state", "backend");
    if (bound == NULL) {
        return NULL;
    }
    /* Interned, so that attributes are found by pointer. Nothing else refers to the tuple yet. */
    for (Py_ssize_t i = STATE; i <= BACKEND; i++) {
        PyUnicode_InternInPlace(&((PyTupleObject *)bound)->ob_item[i]);
    }
    PyObject *getter = PyCFunction_NewEx(&get_attribute_method, bound, module);
    Py_DECREF(bound);
    return getter;
}

static PyMethodDef functions[] = {
    {"attribute_getter", attribute_getter, METH_VARARGS, attribute_getter_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_lookup",
    .m_doc = "Looks up adopted functions in the tables in force, and attributes of modules.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__lookup(void)
{
    return PyModuleDef_Init(&definition);
}
