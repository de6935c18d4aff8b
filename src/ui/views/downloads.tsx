/**
 * `Downloads` shows links that download all rows of a view as CSV, NDJSON, Parquet and Arrow files.
 * If the request is too long for a link, it shows a note instead. The server makes the files while
 * the browser saves them.
 */
import { downloadAddress } from '../base/index.ts';

const FORMATS = [
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
  ['parquet', 'Parquet'],
  ['arrow', 'Arrow'],
] as const;

/** @param asked as the views `rows` and `sql` take it @param of says which rows they are */
export function Downloads({ asked, of }: { readonly asked: object; readonly of: string }) {
  const links = FORMATS.flatMap(([format, title]) => {
    const address = downloadAddress(format, asked);
    return address === undefined ? [] : [{ format, title, address }];
  });
  if (links.length < FORMATS.length) {
    return (
      <span class="note">This is too long for a link: dirspace sql and export write files.</span>
    );
  }
  return (
    <span class="downloads" role="group" aria-label={`Download ${of}`}>
      <span aria-hidden="true">Download</span>
      {links.map(({ format, title, address }) => (
        <a key={format} href={address} aria-label={`${title} of ${of}`}>
          {title}
        </a>
      ))}
    </span>
  );
}
