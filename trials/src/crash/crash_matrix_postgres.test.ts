import { test } from "node:test";
import { crashMatrix } from "./crash_matrix.ts";

const { name, options, run } = crashMatrix("postgres");
test(name, options, run);
