// A method in the page's address: by its name, unless that is too long for one.
const LONGEST = 300;

export const methodText = (names: readonly string[], name: number): string =>
  names[name]!.length <= LONGEST ? names[name]! : `#${name}`;

// -1: there is none of that name.
export function methodOf(names: readonly string[], text: string): number {
  const found = names.indexOf(text);
  if (found >= 0) return found;
  const number = /^#(\d{1,9})$/.exec(text);
  return number !== null && Number(number[1]) < names.length ? Number(number[1]) : -1;
}
