// package.Class.method, taken apart. Other names have no package.

export interface SplitName {
  readonly inner: string; // Class.method
  readonly outer: string; // package, or nothing
}

export function splitName(name: string): SplitName {
  const method = name.lastIndexOf('.');
  const type = method > 0 ? name.lastIndexOf('.', method - 1) : -1;
  return type > 0 ? {inner: name.slice(type + 1), outer: name.slice(0, type)} : {inner: name, outer: ''};
}
