// Names come from the program that was recorded and may hold anything. What the reader sees must be what is there:
// characters that show nothing, or that turn the text around them, are spelled out.

const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
// Stacked marks would leave their line; two on one letter is what real languages need.
const STACKED = /(\p{M}{2})\p{M}+/gu;

// As the command writes them (src/export/escape.h).
const spell = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`;

export function visibleText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(CONTROL, spell).replace(STACKED, '$1\u2026');
}

// For places that cannot hold a name of any length.
export function clipped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit)}\u2026 (${text.length.toLocaleString('en')} characters)`;
}
