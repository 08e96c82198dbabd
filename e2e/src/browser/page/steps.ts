/** How tests call functions of a page. */

export type Step = (...input: never[]) => Promise<unknown>;
export type Steps = Record<string, Step>;

/** Of an error, what survives the way out of the page: its text, its code, and those of its causes. */
export type Refusal = { message: string; code: unknown; causes: string[] };
export type StepAnswer = { value?: unknown; refusal?: Refusal };

/** The page's only global. */
export type StepCaller = (name: string, input: unknown[]) => Promise<StepAnswer>;

export function offerSteps(steps: Steps): void {
  const call: StepCaller = async (name, input) => {
    try {
      return { value: await steps[name]?.(...(input as never[])) };
    } catch (error) {
      return { refusal: describe(error) };
    }
  };
  Object.assign(globalThis, { callStep: call });
}

function describe(error: unknown): Refusal {
  const { message, code } = error as { message?: string; code?: unknown };
  const causes: string[] = [];
  for (let cause = (error as Error).cause; cause instanceof Error; cause = cause.cause) causes.push(cause.message);
  return { message: message ?? String(error), code: code ?? null, causes };
}
