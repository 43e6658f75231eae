// Samples of a set, by where a network goes wrong.

export interface Sample {
  sample: number;
  steps: number;
  first_error: number | null;
  valid: boolean;
  failure?: string | null;
}

/** Incorrect answers first, then those that went astray early; those without any error last. */
export function byError<S extends Sample>(samples: S[]): S[] {
  const rank = (one: Sample) => (one.first_error === null ? Infinity : one.first_error / Math.max(one.steps, 1));
  return [...samples].sort((a, b) => Number(a.valid) - Number(b.valid) || compare(rank(a), rank(b)) || a.sample - b.sample);
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Where a sample first differs: "step 3 of 7", "only the answer", or "no error". */
export function errorText({ first_error, steps }: Sample): string {
  if (first_error === null) {
    return "no error";
  }
  return first_error >= steps ? "only the answer" : `step ${first_error + 1} of ${steps}`;
}

/** A sample in words: "answer correct; first wrong hint at step 2". */
export function sampleText({ valid, failure, first_error, steps }: Sample): string {
  const answer = valid ? "answer correct" : failure ? `answer wrong: ${failure}` : "answer wrong";
  return `${answer}; ${first_error === null || first_error >= steps ? "no wrong hint" : `first wrong hint at step ${first_error + 1}`}`;
}
