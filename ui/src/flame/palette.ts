// Colours of frame types. Java is cool and gets stronger the better it is compiled; what is not Java is warm; inside a
// family lightness or a texture tells the types apart. test/palette.test.ts checks all pairs with simulated colour
// blindness, and that text is readable on each.

export type Texture = 'none' | 'stripes' | 'dots';

export interface Paint {
  readonly fill: string;
  readonly texture: Texture;
}

export interface Palette {
  readonly types: Readonly<Record<string, Paint>>;
  readonly changes: Readonly<Record<string, Paint>>;
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
    java: paint('#c3dfc4'),
    interpreted: paint('#e4eef8'),
    c1: paint('#a9cbea'),
    c2: paint('#68aede'),
    inlined: paint('#68aede', 'stripes'),
    native: paint('#f3d27a'),
    stub: paint('#fbe9b5', 'dots'),
    vm: paint('#eb9a5e'),
    kernel: paint('#d97a72'),
    class: paint('#f2b8e6', 'dots'),
    marker: paint('#c9c9cf', 'stripes'),
  },
  changes: {
    same: paint('#e8e9ec'),
    less: paint('#a9cbea'),
    'much less': paint('#5fa5dc'),
    gone: paint('#5fa5dc', 'stripes'),
    more: paint('#f7cf9a'),
    'much more': paint('#e98f4b'),
    new: paint('#e98f4b', 'dots'),
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
    java: paint('#4b6b45'),
    interpreted: paint('#3f4757'),
    c1: paint('#29597f'),
    c2: paint('#2176b0'),
    inlined: paint('#2176b0', 'stripes'),
    native: paint('#856e24'),
    stub: paint('#5f5430', 'dots'),
    vm: paint('#93430f'),
    kernel: paint('#6a1b2b'),
    class: paint('#8a3f86', 'dots'),
    marker: paint('#55565e', 'stripes'),
  },
  changes: {
    same: paint('#3a3d45'),
    less: paint('#2b5876'),
    'much less': paint('#2176b0'),
    gone: paint('#2176b0', 'stripes'),
    more: paint('#665127'),
    'much more': paint('#ad5a0c'),
    new: paint('#ad5a0c', 'dots'),
  },
  node: paint('#33363e'),
  rest: paint('#2a2c32', 'dots'),
  match: paint('#e7a6f5'),
  text: '#f5f7fa',
  matchText: '#24062c',
  mark: 'rgba(255, 255, 255, 0.17)',
  background: '#17191e',
  selection: '#ffffff',
};
