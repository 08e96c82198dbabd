import { test } from "node:test";
import { runMatrix } from "./tmp_matrix.ts";

test("the matrix on sqlite", (t) => runMatrix(t, "sqlite"));
