import { describe, expect, it } from "vitest";
import { changedCells, events } from "../src/model/changes.ts";
import { frameAt, neighbor, suitableSpeed } from "../src/model/clock.ts";
import { briefText, candidates, cellName, cellTip, changes, changeText, stepLabel } from "../src/model/describe.ts";
import { divergence, wrongDecisions, wrongText } from "../src/model/divergence.ts";
import { fitting, long, precise, short } from "../src/model/format.ts";
import { cursorColors } from "../src/model/palette.ts";
import { adapt, fieldKind, formatNumbers, parseNumbers } from "../src/model/problem.ts";
import { predicted, recorded } from "../src/model/recording.ts";
import { byError, errorText, sampleText } from "../src/model/samples.ts";
import { classNames } from "../src/model/trace.ts";
import { View } from "../src/model/view.ts";
import { names, open, tiny } from "./traces.ts";

describe("names of classes", () => {
  const of = (text: string, count: number) => classNames(text, count).map(({ name, glyph }) => glyph + name);
  it("are read from descriptions", () => {
    expect(of("0 white (undiscovered), 1 gray (on the stack), 2 black (finished)", 3)).toEqual(["white (undiscovered)", "gray (on the stack)", "black (finished)"]);
    expect(of("letter: 0 to 3 for a to d", 4)).toEqual([]);
    expect(of("0 search, 1 augment", 2)).toEqual(["search", "augment"]);
  });
  it("may start with a symbol", () => {
    expect(classNames("0 \u2196 take both, 1 \u2191 drop", 4)).toEqual([
      { name: "take both", glyph: "\u2196" },
      { name: "drop", glyph: "\u2191" },
    ]);
  });
});

describe("numbers", () => {
  it("are short in cells", () => {
    const texts = [0, 0.417, 0.00411, 1e-5, -0.3, 1.46, 12.3, 1234.5, 2e7, NaN, Infinity].map(short);
    expect(texts).toEqual(["0", ".42", ".004", "1e\u22125", "\u2212.3", "1.5", "12", "1235", "2e7", "\u2013", "\u221e"]);
    expect(long(0.41702)).toBe(".417");
  });
  it("have a third digit where there is room", () => {
    expect([1.033, 1.039, 1, 0.417, 12.34, 123.4].map((x) => precise(x, 30, 10))).toEqual(["1.03", "1.04", "1", ".42", "12.3", "123"]);
    expect(precise(1.26, 20, 10)).toBe("1.3");
  });
  it("lose digits before they leave their cell", () => {
    expect(fitting(-0.42, 30, 11)).toBe("\u2212.42");
    expect(fitting(-0.42, 20, 11)).toBe("\u2212.4");
    expect(fitting(-0.42, 3, 11)).toBe("\u00b7");
  });
});

describe("recordings", () => {
  const trace = tiny([
    { name: "pi", stage: "output", kind: "pointer", values: [0, 0, 1] },
    { name: "done", stage: "output", kind: "mask_one", values: [2] },
    { name: "pi_h", kind: "pointer", values: [[0, 1, 2], [0, 0, 2]] },
    { name: "u", kind: "mask_one", values: [[0], [1]] },
  ]);
  const recording = recorded(trace);
  it("end with the result", () => {
    expect(recording.frames).toBe(3);
    expect([0, 1, 2].map((frame) => recording.get("pi_h")?.at(frame))).toEqual([[0, 1, 2], [0, 0, 2], [0, 0, 1]]);
    expect([1, 2].map((frame) => recording.get("done")?.at(frame))).toEqual([null, [2]]);
    expect(recording.get("u")?.at(2)).toEqual([1]);
    expect(recording.get("pi")).toBeUndefined();
  });
  it("know what changes", () => {
    expect([0, 1, 2].map((frame) => changedCells(recording.series[0]!, frame))).toEqual([[], [1], [2]]);
    expect(events(recording).map((event) => event.changes)).toEqual([0, 2, 2]);
    expect(changes(recording, 1, 9).shown.map(changeText)).toEqual(["u: 0 \u2192 1", "pi_h[1]: 1 \u2192 0"]);
    expect(changes(recording, 1, 1)).toMatchObject({ count: 2 });
  });
  it("name classes by their symbol, or without what is in parentheses", () => {
    const classes = (description: string) => recorded(tiny([{ kind: { categorical: { classes: 2 } }, description, values: [[0, 0, 0], [1, 0, 0]] }])).series[0]!;
    expect(briefText(classes("0 \u2191 drop it (row), 1 \u2190 keep it"), 0)).toBe("0 (\u2191)");
    expect(briefText(classes("0 white (unknown), 1 gray (seen)"), 1)).toBe("1 gray");
  });
  it("name their steps and cells", () => {
    expect([stepLabel(0, 2), stepLabel(2, 2)]).toEqual(["step 1 of 2", "result"]);
    expect(cellName({ ...recording.series[0]!, location: "edge" }, 5, 3)).toBe("pi_h[1, 2]");
  });
  it("mark where phases begin", () => {
    const phases = recorded(tiny([{ name: "phase", location: "graph", kind: "mask", description: "0 search, 1 augment", values: [[0], [1], [1]] }], 3));
    expect(events(phases).map((event) => event.phases)).toEqual([[], ["augment"], [], []]);
  });
});

describe("predictions", () => {
  const trace = {
    ...tiny([
      { name: "pi", stage: "output", kind: "pointer", values: [0, 0, 1] },
      { name: "pi_h", kind: "pointer", values: [[0, 1, 2], [0, 0, 2], [0, 0, 1]] },
      { name: "d", values: [[0, 0, 0], [0, 1, 0], [0, 1, 2]] },
    ], 3),
    predictions: [
      { name: "pi", stage: "output", location: "node", kind: "pointer", description: "", values: [0, 0, 0], probabilities: [[1, 0, 0, 1, 0, 0, 0.6, 0.3, 0.1]] },
      { name: "pi_h", stage: "hint", location: "node", kind: "pointer", description: "", values: [[0, 1, 2], [0, 0, 2]], probabilities: [[], [0.9, 0.1, 0, 0.7, 0.2, 0.1, 0, 0, 1]] },
      { name: "d", stage: "hint", location: "node", kind: "scalar", description: "", values: [[0.01, 0, 0], [0, 1.05, 0]] },
    ],
  } as const;
  const truth = recorded(trace as never);
  const prediction = predicted(trace as never)!;
  it("may take other steps than the truth", () => {
    expect([truth.steps, prediction.steps]).toEqual([3, 2]);
    expect(prediction.get("pi_h")?.at(2)).toEqual([0, 0, 0]);
  });
  it("are compared with the truth of their frame, and the result with the result", () => {
    const found = divergence(prediction, truth);
    expect(found.first).toBe(2);
    expect(found.wrong).toEqual([0, 0, 1]);
    expect([...new View(prediction, 2, truth).wrong(prediction.get("pi_h")!)]).toEqual([2]);
    expect(new View(prediction, 1, truth).wrong(prediction.get("d")!).size).toBe(0);
    expect(new View(prediction, 1).wrong(prediction.get("d")!).size).toBe(0);
    expect([...new View(prediction, 1, truth).changed(prediction.get("d")!)]).toEqual([1]);
  });
  it("name what is wrong: hint, cell, both values, and how sure it was", () => {
    expect(wrongDecisions(prediction, truth, 1)).toEqual([]);
    expect(wrongDecisions(prediction, truth, 2)).toEqual([{ name: "pi[2]", predicted: "0", truth: "1", probability: 0.6 }]);
    expect(wrongDecisions(prediction, truth, 2).map(wrongText)).toEqual(["pi[2]: 0 instead of 1, 60.0% sure"]);
    expect(wrongText({ name: "pi[2]", predicted: "0", truth: "1", probability: null })).toBe("pi[2]: 0 instead of 1");
  });
  it("are shown with the truth where they differ from it", () => {
    const tip = (frame: number, cell: number) => cellTip(new View(prediction, frame, truth), "node", cell).map(({ name, value }) => `${name} ${value}`);
    expect(tip(2, 2)).toEqual(["pi_h 0 instead of 1", "d 0 instead of 2"]);
    expect(tip(1, 1)).toEqual(["pi_h 0", "d 1.05"]);
    expect(cellTip(new View(truth, 2), "node", 2).map(({ value }) => value)).toEqual(["1", "2"]);
  });
  it("have probabilities, best first", () => {
    expect(candidates(prediction, prediction.get("pi_h")!, 1, 1)[0]).toEqual({ label: "0", probability: 0.7 });
    expect(candidates(prediction, prediction.get("pi_h")!, 2, 2).map(({ label }) => label)).toEqual(["0", "1", "2"]);
    expect(candidates(prediction, prediction.get("pi_h")!, 0, 1)).toEqual([]);
  });
});

describe("time", () => {
  it("passes at the chosen speed and stops at the end", () => {
    const clock = { startFrame: 3, startTime: 1000, speed: 2 };
    expect([900, 1000, 1499, 1500, 2600, 99999].map((now) => frameAt(clock, now, 10))).toEqual([3, 3, 3, 4, 6, 9]);
  });
  it("is faster for long runs", () => {
    expect([5, 17, 60, 500, 100000].map(suitableSpeed)).toEqual([1, 1, 4, 32, 64]);
  });
  it("jumps between marks", () => {
    expect([neighbor([9, 2, 5], 5, 1), neighbor([9, 2, 5], 5, -1), neighbor([9, 2, 5], 9, 1)]).toEqual([9, 2, 9]);
  });
});

describe("problems", () => {
  it("are edited by the type of their fields", () => {
    expect([1, "ab", [1, 2], [[1, 2], [3, 4]], [[1], [2, 3]], []].map(fieldKind)).toEqual(["number", "text", "list", "matrix", "json", "list"]);
    expect(parseNumbers("1, 2;3 \u22124e-1")).toEqual([1, 2, 3, -0.4]);
    expect(parseNumbers("1, x")).toBeNull();
    expect(formatNumbers([0.1234567891, 2])).toBe("0.123457, 2");
  });
  it("of one algorithm become those of another", () => {
    expect(adapt({ weights: [[1]], source: 4 }, { weights: [[0]] })).toEqual({ weights: [[1]] });
    expect(adapt({ weights: [[1]] }, { weights: [[0]], source: 2 })).toEqual({ weights: [[1]], source: 2 });
    expect(adapt({ key: [1] }, { weights: [[0]] })).toBeNull();
    expect(adapt({ left: 1, right: 2 }, { left: 3, right: 4 })).toBeNull();
  });
});

describe("colors", () => {
  it("of index pointers are those of the paper", () => {
    expect([...cursorColors(["i", "j"])]).toEqual([["j", "blue"], ["i", "red"]]);
    expect(cursorColors(["s", "i", "j"])).toEqual(new Map([["s", "blue"], ["j", "purple"], ["i", "red"]]));
    expect(cursorColors(["u", "v"]).get("u")).toBe("red");
  });
});

describe("every algorithm", () => {
  it.each(names)("%s changes only what its frames say", (name) => {
    const { recording } = open(name);
    for (const series of recording.series) {
      let row = series.at(0);
      for (let frame = 1; frame < recording.frames; frame++) {
        const next = series.at(frame);
        const isNew = (value: number, cell: number) => !row || !Object.is(value + 0, (row[cell] as number) + 0);
        expect(changedCells(series, frame)).toEqual(next?.flatMap((value, cell) => (isNew(value, cell) ? [cell] : [])) ?? []);
        row = next;
      }
    }
  });
});

describe("samples of a network", () => {
  const sample = (index: number, first_error: number | null, valid: boolean) => ({ sample: index, steps: 4, first_error, valid });
  it("are sorted by where they go wrong", () => {
    const samples = [sample(0, null, true), sample(1, 3, false), sample(2, 1, true), sample(3, 1, false), sample(4, 4, false)];
    expect(byError(samples).map((one) => one.sample)).toEqual([3, 1, 4, 2, 0]);
    expect(samples.map(errorText)).toEqual(["no error", "step 4 of 4", "step 2 of 4", "step 2 of 4", "only the answer"]);
  });
  it("are described by their answer and their first wrong hint", () => {
    const texts = [sample(0, null, true), sample(2, 1, true), { ...sample(3, 1, false), failure: "no path" }, sample(4, 4, false)].map(sampleText);
    expect(texts).toEqual(["answer correct; no wrong hint", "answer correct; first wrong hint at step 2", "answer wrong: no path; first wrong hint at step 2", "answer wrong; no wrong hint"]);
  });
});
