// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE: values of several types and
// shapes, and reads whose type or shape differs from the assignment. Also lookups in a hash table
// from strings to int64, filled never, once or twice, and a refused kind of table.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct ResourceRow {
  TfLiteType type;
  Shape shape;
  Shape read_shape;                      // shape of the read value; empty: unknown
  const char* read_name = "v";           // name of the variable that is read; "v" is assigned
  TfLiteType read_type = kTfLiteNoType;  // type that is read; NoType: as assigned
  const char* refusal = "";
};

int AddHandle(ModelBuilder* builder, const char* name) {
  const int handle = builder->AddTensor(kTfLiteResource, {}, std::string("handle of ") + name);
  builder->AddOp(kTfLiteBuiltinVarHandle, {}, {handle},
                 schema::CreateVarHandleOptionsDirect(builder->fbb(), "", name));
  return handle;
}

OpCase MakeCase(const ResourceRow& row) {
  ModelBuilder builder;
  const TfLiteType read_type = row.read_type == kTfLiteNoType ? row.type : row.read_type;
  const int x = builder.AddTensor(row.type, row.shape, "x");
  const int y = builder.AddTensor(read_type, row.read_shape, "y");
  builder.AddOp(kTfLiteBuiltinAssignVariable, {AddHandle(&builder, "v"), x}, {});
  builder.AddOp(kTfLiteBuiltinReadVariable, {AddHandle(&builder, row.read_name)}, {y});
  builder.SetInputs({x});
  builder.SetOutputs({y});
  OpCase result = {std::string("READ_VARIABLE ") + row.read_name + " " +
                       TfLiteTypeGetName(read_type) + Text(row.read_shape) + " of " +
                       TfLiteTypeGetName(row.type) + Text(row.shape),
                   Rule::kElement, builder.Finish(), row.refusal};
  result.late = true;
  return result;
}

// Number of times that the graph fills a table.
enum class Fill { kNever, kOnce, kTwice };

// A case of y = the values of `keys` in a table from strings to int64, and the table's size.
OpCase MakeTable(Fill fill, const Shape& keys, TfLiteType key_type = kTfLiteString,
                 const char* refusal = "") {
  ModelBuilder m;
  const std::vector<std::string> names = {"one", "", "three"};
  std::vector<std::string> wanted;
  for (int32_t i = 0; i < keys[0]; ++i) wanted.emplace_back(i % 2 == 0 ? "three" : "other");
  const int table = m.AddTensor(kTfLiteResource, {1}, "table");
  m.AddOp(kTfLiteBuiltinHashtable, {}, {table},
          schema::CreateHashtableOptions(
              m.fbb(), 3,
              key_type == kTfLiteString ? schema::TensorType::STRING : schema::TensorType::INT64,
              schema::TensorType::INT64));
  const int entries = m.AddStringConstant({3}, names, "entries");
  const int numbers = m.AddConstant<int64_t>(kTfLiteInt64, {3}, {1, -2, INT64_MAX}, "numbers");
  const int times = fill == Fill::kNever ? 0 : fill == Fill::kOnce ? 1 : 2;
  for (int i = 0; i < times; ++i) {
    m.AddOp(kTfLiteBuiltinHashtableImport, {table, entries, numbers}, {});
  }
  const int x = m.AddStringConstant(keys, wanted, "keys");
  const int otherwise = m.AddConstant<int64_t>(kTfLiteInt64, {}, {77}, "otherwise");
  const int y = m.AddTensor(kTfLiteInt64, {1}, "y"), size = m.AddTensor(kTfLiteInt64, {1}, "size");
  m.AddOp(kTfLiteBuiltinHashtableFind, {table, x, otherwise}, {y});
  m.AddOp(kTfLiteBuiltinHashtableSize, {table}, {size});
  m.SetInputs({});
  m.SetOutputs({y, size});
  const bool fits = key_type == kTfLiteString;
  OpCase result = {(fits ? "HASHTABLE_FIND " : "HASHTABLE ") + Text(keys) + " filled " +
                       std::to_string(times) + " of " + TfLiteTypeGetName(key_type),
                   Rule::kEqual, m.Finish(), refusal};
  result.late = fill == Fill::kNever;
  return result;
}

}  // namespace

std::vector<OpCase> ResourceCases() {
  std::vector<OpCase> cases;
  for (const TfLiteType type :
       {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16, kTfLiteInt32,
        kTfLiteInt64, kTfLiteBool, kTfLiteBFloat16, kTfLiteComplex128, kTfLiteInt4}) {
    for (const Shape& shape : {Shape{2, 3}, Shape{1}, Shape{0, 2}}) {
      cases.push_back(MakeCase({type, shape, shape}));
      cases.push_back(MakeCase({type, shape, {}}));
    }
  }
  const ResourceRow refused[] = {
      {kTfLiteFloat32, {2}, {2}, "w", kTfLiteNoType, "no value was assigned to variable 1"},
      {kTfLiteFloat32,
       {2},
       {3},
       "v",
       kTfLiteNoType,
       "expected space for the 8 bytes of variable 0"},
      {kTfLiteFloat32, {2}, {2}, "v", kTfLiteInt32, "expected the type of variable 0, FLOAT32"},
  };
  for (const ResourceRow& row : refused) cases.push_back(MakeCase(row));
  cases.push_back(MakeTable(Fill::kOnce, {5}));
  cases.push_back(MakeTable(Fill::kTwice, {1}));
  cases.push_back(MakeTable(Fill::kOnce, {0}));
  cases.push_back(MakeTable(Fill::kNever, {2}, kTfLiteString, "nothing was imported into table 3"));
  cases.push_back(MakeTable(Fill::kOnce, {2}, kTfLiteInt64, "found INT64 to INT64"));
  return cases;
}

}  // namespace deputy
