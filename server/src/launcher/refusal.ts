/** A start that must not go on. The message is for the operator, one line, and never holds a secret. */
export class Refusal extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = "Refusal";
    this.exitCode = exitCode;
  }
}
