import { test } from "node:test";
import { crashMatrix } from "./crash_matrix.ts";

const { name, options, run } = crashMatrix("sqlite");
test(name, options, run);
