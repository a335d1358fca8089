// What fits of a name into a rectangle.
import {CLASS, JAVA_TYPES} from '../model/frame_types';
import {splitClass, splitName} from '../model/names';

export interface TextMeasure {
  readonly widthOf: (text: string) => number;
}

const LONGEST = 400; // no screen shows more; names can have 60,000 characters

// Widths of ASCII characters are measured once; anything else is asked for.
export function cachedMeasure(measure: (text: string) => number): TextMeasure {
  const ascii = new Float32Array(128);
  for (let c = 0x20; c < 0x7f; c++) ascii[c] = measure(String.fromCharCode(c));
  const widthOf = (text: string): number => {
    let width = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 128) return measure(text);
      width += ascii[code]!;
    }
    return width;
  };
  return {widthOf};
}

// package.Class.method: the package says least, then the class.
function* shorterForms(name: string, type: number): Generator<string> {
  yield name;
  if (type === CLASS) yield splitClass(name).inner;
  if (type >= JAVA_TYPES) return;
  yield splitName(name).inner;
  yield name.slice(name.lastIndexOf('.') + 1);
}

export function fitLabel(name: string, type: number, room: number, measure: TextMeasure): string {
  if (room < measure.widthOf('m') * 2) return '';
  let last = '';
  for (const form of shorterForms(name, type)) {
    last = form;
    if (form.length <= LONGEST && measure.widthOf(form) <= room) return form;
  }
  return cut(last.slice(0, LONGEST), room - measure.widthOf('..'), measure);
}

function cut(text: string, room: number, measure: TextMeasure): string {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure.widthOf(text.slice(0, middle)) <= room) low = middle;
    else high = middle - 1;
  }
  if (low > 0 && /[\ud800-\udbff]/.test(text[low - 1]!)) low--;
  return low < 2 ? '' : `${text.slice(0, low)}\u2026`;
}
