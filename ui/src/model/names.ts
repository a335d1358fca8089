// package.Class.method, taken apart. Other names have no package.

export interface SplitName {
  readonly inner: string; // Class.method
  readonly outer: string; // package, or nothing
}

export function splitName(name: string): SplitName {
  if (/\.\d+$/.test(name)) return {inner: name, outer: ''}; // libc.so.6, do_work.isra.0: no method begins with a digit
  const method = name.lastIndexOf('.');
  let type = method > 0 ? name.lastIndexOf('.', method - 1) : -1;
  // A hidden class is called Class$$Lambda.0x000001ff010766a8: the number is part of the class.
  if (type > 0 && /^0x[0-9a-f]+$/.test(name.slice(type + 1, method))) type = name.lastIndexOf('.', type - 1);
  return type > 0 ? {inner: name.slice(type + 1), outer: name.slice(0, type)} : {inner: name, outer: ''};
}

// package.Class: what was allocated.
export function splitClass(name: string): SplitName {
  const at = name.lastIndexOf('.');
  return at > 0 ? {inner: name.slice(at + 1), outer: name.slice(0, at)} : {inner: name, outer: ''};
}
