/**
 * Text of others, such as the messages of contracts and peers, as a terminal may get it: what it would
 * not show but obey is escaped as in JSON, which leaves a part of it as it is.
 */

/** On one line. */
export const visible = (text: string): string => text.replace(OBEYED, escaped);

/** The same; line breaks and tabs stay. */
export const visibleLines = (text: string): string => text.replace(OBEYED_IN_LINES, escaped);

/**
 * Format characters without which words of Persian or Hindi and many emoji are another text. Elsewhere
 * they would hide in a text that looks like another one.
 */
const IN_WORDS = '(?<=\\p{Lo}\\p{M}?)[\\u200C\\u200D](?=\\p{Lo})';
const IN_EMOJI = '(?<=[\\p{ExtPict}\\p{EMod}\\uFE0F])\\u200D(?=\\p{ExtPict})';
const OBEYED = new RegExp(`(?!${IN_WORDS}|${IN_EMOJI})\\p{C}`, 'gu');
const OBEYED_IN_LINES = new RegExp(`(?![\\n\\t])${OBEYED.source}`, 'gu');

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
