/**
 * `delimitedCaller` joins the ids in the response of ListAllTables by the delimiter of the request;
 * other operations pass unchanged. The protocol cannot escape a delimiter. So an id with the
 * delimiter in one of its names is left out, and the response's `context` says so.
 */
import { isDirspaceError } from '../../errors.ts';
import { DEFAULT_DELIMITER, formatId, parseId } from '../../protocol/index.ts';
import type { Call, Caller } from './call.ts';
import { filteredPage } from './listing.ts';

/** `caller` for requests whose ids are joined by `delimiter`. */
export function delimitedCaller(caller: Caller, delimiter: string): Caller {
  if (delimiter === DEFAULT_DELIMITER) return caller;
  const delimited = async (call: Call): Promise<unknown> => {
    if (call.operation !== 'ListAllTables') return caller(call);
    const leftOut: string[] = [];
    const spelled = (id: string): string | undefined => respelled(id, delimiter);
    const listed = call as Call<'ListAllTables'>;
    const page = await filteredPage(caller, listed, spelled, (id) => leftOut.push(id));
    return leftOut.length === 0 ? page : { ...page, context: noteOf(leftOut, delimiter) };
  };
  return delimited as Caller;
}

/** Undefined where the id would read as that of another table. */
function respelled(id: string, delimiter: string): string | undefined {
  try {
    return formatId(parseId(id), delimiter);
  } catch (error) {
    if (isDirspaceError(error, 'InvalidInput')) return undefined;
    throw error;
  }
}

const SHOWN = 10;

function noteOf(ids: readonly string[], delimiter: string): Record<string, string> {
  const shown = ids.slice(0, SHOWN).join(', ');
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : '';
  return {
    left_out: String(ids.length),
    left_out_because: `The delimiter ${JSON.stringify(delimiter)} occurs in these ids, which are joined by "${DEFAULT_DELIMITER}" here: ${shown}${more}. List with another delimiter, such as "${DEFAULT_DELIMITER}", to have them too.`,
  };
}
