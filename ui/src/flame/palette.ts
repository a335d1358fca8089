// Colours of frame types. Java frames are cool and get darker the better they are compiled; what is not Java is warm;
// so the families stay apart in every kind of colour vision, and inside a family lightness or a texture tells the
// types apart. ui/test/palette.test.ts checks this with simulated colour blindness.

export type Texture = 'none' | 'stripes' | 'dots';

export interface Paint {
  readonly fill: string;
  readonly texture: Texture;
}

export interface Palette {
  readonly types: Readonly<Record<string, Paint>>;
  readonly node: Paint; // threads and the root
  readonly rest: Paint; // many small frames drawn as one
  readonly match: Paint; // what a search found
  readonly text: string;
  readonly matchText: string;
  readonly mark: string; // textures are drawn in this
  readonly background: string;
  readonly selection: string;
}

const paint = (fill: string, texture: Texture = 'none'): Paint => ({fill, texture});

export const LIGHT: Palette = {
  types: {
    java: paint('#b9d2e8'),
    interpreted: paint('#dcebf7'),
    c1: paint('#a5d3ea'),
    c2: paint('#6db6e0'),
    inlined: paint('#6db6e0', 'stripes'),
    native: paint('#f6d36b'),
    stub: paint('#fbe9b5', 'dots'),
    vm: paint('#ef9a5c'),
    kernel: paint('#d9776a'),
    marker: paint('#c9c9cf', 'stripes'),
  },
  node: paint('#e3e5ea'),
  rest: paint('#eceef1', 'dots'),
  match: paint('#7b2d8e'),
  text: '#16181d',
  matchText: '#ffffff',
  mark: 'rgba(0, 20, 50, 0.16)',
  background: '#ffffff',
  selection: '#0b1f4b',
};

export const DARK: Palette = {
  types: {
    java: paint('#4a5f78'),
    interpreted: paint('#3a4452'),
    c1: paint('#2f6183'),
    c2: paint('#1f7fb5'),
    inlined: paint('#1f7fb5', 'stripes'),
    native: paint('#8d6f14'),
    stub: paint('#5f5430', 'dots'),
    vm: paint('#a8551f'),
    kernel: paint('#93392f'),
    marker: paint('#55565e', 'stripes'),
  },
  node: paint('#33363e'),
  rest: paint('#2a2c32', 'dots'),
  match: paint('#e7a6f5'),
  text: '#f2f4f8',
  matchText: '#24062c',
  mark: 'rgba(255, 255, 255, 0.17)',
  background: '#17191e',
  selection: '#ffffff',
};
