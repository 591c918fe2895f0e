/** The present second as a header says it. The text is made once a second. */

let date = '';
let dateSecond = 0;

export function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}
