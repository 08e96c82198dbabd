import { test } from "node:test";
import { runMatrix } from "./matrix.ts";

test("the matrix on postgres", (t) => runMatrix(t, "postgres"));
