/**
 * Text of others, such as the messages of contracts and peers, as a terminal may get it: what it would
 * not show but obey is escaped as in JSON, which leaves a part of it as it is.
 */

/** On one line. */
export const visible = (text: string): string => text.replace(/\p{C}/gu, escaped);

/** The same; line breaks and tabs stay. */
export const visibleLines = (text: string): string => text.replace(/(?![\n\t])\p{C}/gu, escaped);

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
