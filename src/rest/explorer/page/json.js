/** JSON whose integers never lose a digit: those beyond 2^53 become BigInt. */

/** A text, or an integer of sixteen digits or more. Texts match first and stay unchanged. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  // A marker that no text of the document contains.
  let mark = '#';
  while (text.includes(`"${mark}`)) mark += '#';
  const marked = text.replace(TOKENS, (token) => (token[0] === '"' ? token : `"${mark}${token}"`));
  return JSON.parse(marked, (_key, value) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    const digits = value.slice(mark.length);
    return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
  });
}

/** The value as indented JSON; a BigInt becomes a bare integer. */
export function print(value, indent = '') {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => inner + print(item, inner)).join(',\n')}\n${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    const lines = entries.map(
      ([key, item]) => `${inner}${JSON.stringify(key)}: ${print(item, inner)}`,
    );
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
