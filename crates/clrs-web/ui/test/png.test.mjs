import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decode, withPalette } from "../browser/png.mjs";

/** A picture without a palette, its rows filtered by the filters in turn. */
function truecolor(width, height, color) {
  const at = (x, y) => (x < 0 || y < 0 ? [0, 0, 0] : color(x, y));
  const paeth = (a, b, c) => [a, b, c].reduce((best, value) => (Math.abs(a + b - c - value) < Math.abs(a + b - c - best) ? value : best));
  const rows = Array.from({ length: height }, (_, y) => [
    y % 5,
    ...Array.from({ length: width }, (_, x) =>
      at(x, y).map((value, k) => {
        const [left, above, corner] = [at(x - 1, y)[k], at(x, y - 1)[k], at(x - 1, y - 1)[k]];
        return (value - [0, left, above, (left + above) >> 1, paeth(left, above, corner)][y % 5]) & 255;
      }),
    ).flat(),
  ]);
  const chunk = (name, body) => Buffer.concat([Buffer.from([0, 0, body.length >> 8, body.length & 255]), Buffer.from(name), body, Buffer.alloc(4)]);
  const header = Buffer.from([0, 0, 0, width, 0, 0, 0, height, 8, 2, 0, 0, 0]);
  return Buffer.concat([Buffer.alloc(8), chunk("IHDR", header), chunk("IDAT", deflateSync(Buffer.from(rows.flat())))]);
}

const channels = (color) => [color >> 16, (color >> 8) & 255, color & 255];

describe("pictures with a palette", () => {
  it("of few colors are the same", () => {
    const color = (x, y) => [x * 9, y * 7, (x * y) % 5];
    const png = truecolor(12, 15, color);
    const { width, height, pixels } = decode(withPalette(png));
    expect([width, height]).toEqual([12, 15]);
    expect([...pixels].map(channels)).toEqual(Array.from({ length: 180 }, (_, k) => color(k % 12, Math.floor(k / 12))));
  });
  it("of many colors keep the frequent ones, and all others nearly", () => {
    const color = (x, y) => (y < 20 ? [1, 2, 3] : [x * 4, y * 4, (x * y) % 9]);
    const [before, after] = [decode(truecolor(40, 40, color)), decode(withPalette(truecolor(40, 40, color)))];
    const errors = [...before.pixels].map((pixel, k) => Math.max(...channels(pixel).map((value, c) => Math.abs(value - channels(after.pixels[k])[c]))));
    expect(after.pixels[0]).toBe(0x010203);
    expect(new Set(after.pixels).size).toBeLessThanOrEqual(256);
    expect(Math.max(...errors)).toBeLessThanOrEqual(16);
  });
});
