/**
 * Makes the pictures of the tests small: each gets a palette of few colours. The comparison allows
 * for more than that changes.
 */

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const FOLDER = join(import.meta.dirname, '../tests/pictures');
/** Large areas keep their colour; the edges of letters share the rest. */
const EXACT = 24;
const COLOURS = 64;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PALETTE = 3;

function* chunks(file) {
  for (let at = SIGNATURE.length; at < file.length;) {
    const length = file.readUInt32BE(at);
    yield [file.toString('latin1', at + 4, at + 8), file.subarray(at + 8, at + 8 + length)];
    at += length + 12;
  }
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** Returns the predicted value of a byte from those at its left, above it, and above its left. */
function predicted(filter, left, up, corner) {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [l, u, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return l <= u && l <= c ? left : u <= c ? up : corner;
}

/** Returns the pixels of a picture as numbers; null if it has a palette already. */
function pixels(file) {
  const parts = [...chunks(file)];
  const head = parts.find(([type]) => type === 'IHDR')[1];
  const [width, height, kind] = [head.readUInt32BE(0), head.readUInt32BE(4), head[9]];
  if (kind === PALETTE) return null;
  const step = kind === 6 ? 4 : 3;
  const raw = inflateSync(Buffer.concat(parts.filter(([type]) => type === 'IDAT').map(([, data]) => data)));
  const row = width * step;
  const bytes = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; x++) {
      const at = y * row + x;
      const left = x >= step ? bytes[at - step] : 0;
      const up = y > 0 ? bytes[at - row] : 0;
      const corner = x >= step && y > 0 ? bytes[at - row - step] : 0;
      bytes[at] = raw[y * (row + 1) + 1 + x] + predicted(filter, left, up, corner);
    }
  }
  const colours = new Uint32Array(width * height);
  for (let n = 0; n < colours.length; n++) colours[n] = bytes.readUIntBE(n * step, 3);
  return { width, height, colours };
}

function byCount(colours) {
  const counts = new Map();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function distance(a, b) {
  const part = (shift) => ((a >> shift) & 255) - ((b >> shift) & 255);
  return part(16) ** 2 + part(8) ** 2 + part(0) ** 2;
}

function paletteOf(colours) {
  const counted = byCount(colours);
  const palette = counted.slice(0, EXACT).map(([colour]) => colour);
  const buckets = new Set();
  for (const [colour] of counted.slice(EXACT)) {
    if (palette.length === COLOURS) break;
    const bucket = colour & 0xe0e0e0;
    if (!buckets.has(bucket)) palette.push(colour);
    buckets.add(bucket);
  }
  return palette;
}

function small({ width, height, colours }) {
  const palette = paletteOf(colours);
  const nearest = new Map();
  const indexOf = (colour) => {
    if (!nearest.has(colour)) {
      const far = palette.map((one) => distance(one, colour));
      nearest.set(colour, far.indexOf(Math.min(...far)));
    }
    return nearest.get(colour);
  };
  const raw = Buffer.alloc((width + 1) * height);
  for (let n = 0; n < colours.length; n++)
    raw[Math.floor(n / width) * (width + 1) + 1 + (n % width)] = indexOf(colours[n]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, PALETTE, 0, 0, 0], 8);
  const table = Buffer.alloc(palette.length * 3);
  palette.forEach((colour, index) => table.writeUIntBE(colour, index * 3, 3));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', table),
    chunk('IDAT', deflateSync(raw, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

let total = 0;
for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.png'))) {
  const path = join(FOLDER, name);
  const picture = pixels(readFileSync(path));
  if (picture) writeFileSync(path, small(picture));
  total += statSync(path).size;
}
console.log(`The pictures take ${Math.round(total / 1024)} kB.`);
