// Small PNG files: pictures of a page have few colors, and a palette of them takes a third of the bytes.

import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_COLORS = 256;
/** The most frequent colors stay as they are: those of areas and lines. */
const EXACT = 160;
/** Channels of others, at the edges of letters, may differ by this much: the first that gives few enough colors. */
const TOLERANCES = [0, 4, 8, 12, 16, 24, 32, 48, 64];
/** Bytes per pixel by color type: with and without transparency. */
const CHANNELS = { 2: 3, 6: 4 };

/** The picture with a palette. */
export function withPalette(png) {
  const { width, height, pixels } = decode(png);
  const counts = new Map();
  pixels.forEach((color) => counts.set(color, (counts.get(color) ?? 0) + 1));
  const colors = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  const palette = choose(colors);
  const index = new Map(colors.map((color) => [color, nearest(palette, color)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rows[y * (width + 1) + 1 + x] = index.get(pixels[y * width + x]);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  const chunks = [chunk("IHDR", header), chunk("PLTE", table), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function choose(colors) {
  for (const tolerance of TOLERANCES) {
    const palette = colors.slice(0, EXACT);
    for (const color of colors.slice(EXACT)) {
      if (palette.length <= MAX_COLORS && !palette.some((chosen) => apart(chosen, color) <= tolerance)) {
        palette.push(color);
      }
    }
    if (palette.length <= MAX_COLORS) {
      return palette;
    }
  }
  return colors.slice(0, MAX_COLORS);
}

function nearest(palette, color) {
  let best = 0;
  palette.forEach((chosen, index) => {
    best = apart(chosen, color) < apart(palette[best], color) ? index : best;
  });
  return best;
}

/** The largest difference of a channel. */
function apart(a, b) {
  return Math.max(Math.abs((a >> 16) - (b >> 16)), Math.abs(((a >> 8) & 255) - ((b >> 8) & 255)), Math.abs((a & 255) - (b & 255)));
}

/** Width, height and colors of a picture with 8 bits per channel, as Chromium writes them; transparency is ignored. */
export function decode(png) {
  let [header, palette] = [null, null];
  const data = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const [name, body] = [png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)];
    header = name === "IHDR" ? body : header;
    palette = name === "PLTE" ? body : palette;
    if (name === "IDAT") {
      data.push(body);
    }
    at += length + 12;
  }
  const [width, height, type] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9]];
  const step = palette ? 1 : CHANNELS[type];
  const bytes = unfilter(inflateSync(Buffer.concat(data)), width * step, height, step);
  const color = (at) => (palette ? palette.readUIntBE(3 * bytes[at], 3) : (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2]);
  return { width, height, pixels: Uint32Array.from({ length: width * height }, (_, pixel) => color(pixel * step)) };
}

/** Undoes the filters of rows: every byte is relative to those to the left, above, and above to the left. */
function unfilter(rows, stride, height, step) {
  const bytes = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= step ? bytes[at - step] : 0;
      const above = y > 0 ? bytes[at - stride] : 0;
      const corner = x >= step && y > 0 ? bytes[at - stride - step] : 0;
      const expected = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      bytes[at] = (rows[y * (stride + 1) + 1 + x] + expected) & 255;
    }
  }
  return bytes;
}

function paeth(left, above, corner) {
  const [a, b, c] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

function chunk(name, body) {
  const content = Buffer.concat([Buffer.from(name, "latin1"), body]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  check.writeUInt32BE(crc(content));
  return Buffer.concat([length, content, check]);
}

function crc(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    }
  }
  return (value ^ 0xffffffff) >>> 0;
}
