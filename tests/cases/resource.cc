// SPDX-License-Identifier: Apache-2.0
//
// VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE: values of several types and shapes, and reads that
// do not fit what was assigned.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct Row {
  TfLiteType type;
  Shape shape;
  Shape read_shape;                      // empty: not known before it has run
  const char* read_name = "v";           // assigned is "v"
  TfLiteType read_type = kTfLiteNoType;  // NoType: as assigned
  const char* refusal = "";
};

int AddHandle(ModelBuilder* builder, const char* name) {
  const int handle = builder->AddTensor(kTfLiteResource, {}, std::string("handle of ") + name);
  builder->AddOp(kTfLiteBuiltinVarHandle, {}, {handle},
                 schema::CreateVarHandleOptionsDirect(builder->fbb(), "", name));
  return handle;
}

OpCase MakeCase(const Row& row) {
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

}  // namespace

std::vector<OpCase> ResourceCases() {
  std::vector<OpCase> cases;
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8,
                                kTfLiteInt16, kTfLiteInt32, kTfLiteInt64, kTfLiteBool}) {
    for (const Shape& shape : {Shape{2, 3}, Shape{1}, Shape{0, 2}}) {
      cases.push_back(MakeCase({type, shape, shape}));
      cases.push_back(MakeCase({type, shape, {}}));
    }
  }
  const Row refused[] = {
      {kTfLiteFloat32, {2}, {2}, "w", kTfLiteNoType, "no value was assigned to variable 1"},
      {kTfLiteFloat32, {2}, {3}, "v", kTfLiteNoType, "expected the 8 bytes of variable 0"},
      {kTfLiteFloat32, {2}, {2}, "v", kTfLiteInt32, "expected the type of variable 0, FLOAT32"},
  };
  for (const Row& row : refused) cases.push_back(MakeCase(row));
  return cases;
}

}  // namespace deputy
