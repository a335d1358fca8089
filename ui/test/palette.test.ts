// Colours must tell frame types apart in every kind of colour vision, and carry readable text.
import assert from 'node:assert/strict';
import test from 'node:test';
import {DARK, LIGHT, type Paint, type Palette} from '../src/flame/palette';
import {CHANGES} from '../src/model/changes';
import {FRAME_TYPES} from '../src/model/frame_types';

type Rgb = readonly [number, number, number]; // linear light

function linear(hex: string): Rgb {
  const channel = (at: number): number => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const times = (m: readonly Rgb[], v: Rgb): Rgb =>
  m.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as unknown as Rgb;

// Machado, Oliveira and Fernandes 2009, full severity, on linear light.
const VISIONS: Readonly<Record<string, readonly Rgb[]>> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function oklab(rgb: Rgb): Rgb {
  const [r, g, b] = rgb.map((value) => Math.max(value, 0)) as unknown as Rgb;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

const luminance = (hex: string): number => {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a: string, b: string): number => {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light! + 0.05) / (dark! + 0.05);
};

const LEAST_DISTANCE = 0.05; // some 2.5 times what is just seen side by side

function checkApart(entries: readonly (readonly [string, Paint])[], matrix: readonly Rgb[]): void {
  for (const [a, paintA] of entries) {
    for (const [b, paintB] of entries) {
      if (a >= b || paintA.texture !== paintB.texture) continue;
      const [x, y] = [oklab(times(matrix, linear(paintA.fill))), oklab(times(matrix, linear(paintB.fill)))];
      const distance = Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
      assert.ok(distance >= LEAST_DISTANCE, `${a} and ${b}: ${distance.toFixed(3)}`);
    }
  }
}

for (const [name, palette] of Object.entries({LIGHT, DARK}) as [string, Palette][]) {
  test(`${name}: every frame type and every change has a colour`, () => {
    assert.deepEqual(Object.keys(palette.types).sort(), FRAME_TYPES.map((type) => type.name).sort());
    assert.deepEqual(Object.keys(palette.changes).sort(), CHANGES.map((change) => change.name).sort());
  });

  for (const [vision, matrix] of Object.entries(VISIONS)) {
    test(`${name}: types and changes of one texture differ in ${vision} vision`, () => {
      for (const entries of [Object.entries(palette.types), Object.entries(palette.changes)]) checkApart(entries, matrix);
    });
  }

  test(`${name}: text is readable on every colour`, () => {
    for (const [type, paint] of [...Object.entries(palette.types), ...Object.entries(palette.changes), ['thread', palette.node] as const]) {
      const ratio = contrast(palette.text, paint.fill);
      assert.ok(ratio >= 4.5, `${type}: ${ratio.toFixed(2)}`);
    }
    assert.ok(contrast(palette.matchText, palette.match.fill) >= 4.5);
  });
}
