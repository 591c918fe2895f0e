/** Rows in the text form of PostgreSQL's COPY: columns separated by tabs, `\N` for no value. */

export type Cell = string | number | bigint | boolean | null | undefined;

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

const escaped = (text: string): string =>
  SPECIAL.test(text) ? text.replace(/[\\\t\n\r]/g, (char) => ESCAPES[char]!) : text;

export function copyLine(cells: readonly Cell[]): string {
  let line = '';
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i];
    if (i > 0) line += '\t';
    if (cell === null || cell === undefined) line += '\\N';
    else if (typeof cell === 'string') line += escaped(cell);
    else if (typeof cell === 'boolean') line += cell ? 't' : 'f';
    else line += String(cell);
  }
  return line;
}

/** Numbers as a value of an array type. */
export const arrayText = (values: readonly (number | bigint)[]): string => `{${values.join(',')}}`;
