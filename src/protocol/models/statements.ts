/**
 * Defines the JSON Schemas that validate the requests of RunSql and ExplainSql and the response of
 * ExplainSql; RunSql answers with Arrow data. ../table-insight.ts has their TypeScript types and
 * documents the members.
 */

import { request, response } from './common.ts';
import { array, boolean, map, nullable, number, string, union } from './model-schema.ts';

const value = nullable(union(string, union(number, boolean)));
const parameter = union(value, array(value));
const parameters = union(array(parameter), map(parameter));
const members = { id: array(string), incarnation: string, parameters };
export const RunSqlRequest = request({ sql: string }, members);
export const ExplainSqlRequest = request({ sql: string }, members);
export const ExplainSqlResponse = response({ plan: string });
