import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.lance.namespace.client.apache.ApiClient;
import org.lance.namespace.client.apache.ApiException;
import org.lance.namespace.client.apache.api.NamespaceApi;
import org.lance.namespace.client.apache.api.TableApi;
import org.lance.namespace.client.apache.api.TagApi;
import org.lance.namespace.client.apache.api.TransactionApi;
import org.lance.namespace.model.*;

/**
 * Drives a server by the protocol's own client for Java, and leaves unset whatever the path says
 * already: the client then sends empty lists. Arguments: the address, a file of three rows as an
 * Arrow stream (id 1 to 3, a name each), and one of two rows (id 3 and 4). Prints a line a step.
 */
public class Steps {
  private static int steps = 0;
  private static int failures = 0;

  private interface Step {
    Object run() throws Exception;
  }

  /** A step that answers what it must. */
  private static void same(String name, Object expected, Step step) {
    steps += 1;
    try {
      Object found = step.run();
      if (Objects.equals(expected, found)) {
        System.out.println("ok " + name);
        return;
      }
      fail(name, "expected " + expected + ", got " + found);
    } catch (ApiException error) {
      fail(name, error.getCode() + " " + error.getResponseBody());
    } catch (Exception error) {
      fail(name, error.toString());
    }
  }

  /** A step that the server refuses with the status. */
  private static void refused(String name, int status, Step step) {
    same(
        name,
        status,
        () -> {
          try {
            return "success: " + step.run();
          } catch (ApiException error) {
            return error.getCode();
          }
        });
  }

  private static void fail(String name, String why) {
    failures += 1;
    System.out.println("FAILED " + name + ": " + why);
  }

  private static QueryTableRequest every() {
    QueryTableRequest query = new QueryTableRequest();
    query.setK(100);
    query.setVector(new QueryTableRequestVector());
    return query;
  }

  private static String magic(byte[] answer) {
    return new String(answer, 0, 6, StandardCharsets.US_ASCII);
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(arguments[0]);
    NamespaceApi namespaces = new NamespaceApi(client);
    TableApi tables = new TableApi(client);
    TagApi tags = new TagApi(client);
    TransactionApi transactions = new TransactionApi(client);
    byte[] three = Files.readAllBytes(Path.of(arguments[1]));
    byte[] two = Files.readAllBytes(Path.of(arguments[2]));
    String table = "n$t";

    same("create a namespace", "me", () -> {
      CreateNamespaceRequest request = new CreateNamespaceRequest();
      request.putPropertiesItem("owner", "me");
      return namespaces.createNamespace("n", request, null).getProperties().get("owner");
    });
    refused("create it again", 409,
        () -> namespaces.createNamespace("n", new CreateNamespaceRequest(), null));
    same("create one in it", true, () ->
        namespaces.createNamespace("n$in", new CreateNamespaceRequest(), null) != null);
    same("list the root", List.of("n"),
        () -> namespaces.listNamespaces("$", null, null, null).getNamespaces().stream().toList());
    same("list it by another delimiter", List.of("in"),
        () -> namespaces.listNamespaces("n", ".", null, 10).getNamespaces().stream().toList());
    same("describe it", "me", () ->
        namespaces.describeNamespace("n", new DescribeNamespaceRequest(), null)
            .getProperties().get("owner"));
    same("it exists", null, () -> {
      namespaces.namespaceExists("n", new NamespaceExistsRequest(), null);
      return null;
    });
    refused("another does not", 404, () -> {
      namespaces.namespaceExists("no", new NamespaceExistsRequest(), null);
      return null;
    });
    same("create a table", 1L,
        () -> tables.createTable(table, three, null, "create", "{\"a\":\"b\"}", null).getVersion());
    refused("create it again", 409,
        () -> tables.createTable(table, three, null, "create", null, null));
    same("list the tables", List.of("t"),
        () -> tables.listTables("n", null, null, null, null).getTables().stream().toList());
    same("list all tables", List.of("n$t"),
        () -> tables.listAllTables(null, null, null, null).getTables().stream().toList());
    same("the table exists", null, () -> {
      tables.tableExists(table, new TableExistsRequest(), null);
      return null;
    });
    same("describe the table", 1L, () ->
        tables.describeTable(table, new DescribeTableRequest(), null, true, true, true)
            .getVersion());
    same("insert rows", true, () -> tables.insertIntoTable(table, two, null, "append") != null);
    same("count the rows", 5L,
        () -> tables.countTableRows(table, new CountTableRowsRequest(), null));
    same("count by a predicate", 2L, () -> {
      CountTableRowsRequest request = new CountTableRowsRequest();
      request.setPredicate("id = 3");
      return tables.countTableRows(table, request, null);
    });
    same("query", "ARROW1", () -> magic(tables.queryTable(table, every(), null)));
    same("explain the query", true, () -> {
      ExplainTableQueryPlanRequest request = new ExplainTableQueryPlanRequest();
      request.setQuery(every());
      return !tables.explainTableQueryPlan(table, request, null).isEmpty();
    });
    same("update rows", 1L, () -> {
      UpdateTableRequest request = new UpdateTableRequest();
      request.setPredicate("id = 1");
      request.addUpdatesItem(Arrays.asList("name", "'new'"));
      return tables.updateTable(table, request, null).getUpdatedRows();
    });
    same("delete rows", 4L, () -> {
      DeleteFromTableRequest request = new DeleteFromTableRequest();
      request.setPredicate("id = 2");
      return tables.deleteFromTable(table, request, null).getVersion();
    });
    same("overwrite the rows", true,
        () -> tables.insertIntoTable(table, three, null, "overwrite") != null);
    same("merge rows", List.of(1L, 1L), () -> {
      MergeInsertIntoTableResponse answer = tables.mergeInsertIntoTable(
          table, "id", two, null, true, null, true, false, null, null, null);
      return List.of(answer.getNumUpdatedRows(), answer.getNumInsertedRows());
    });
    same("list the versions", 6, () ->
        tables.listTableVersions(table, null, null, null, true).getVersions().size());
    same("describe a version", 2L, () -> {
      DescribeTableVersionRequest request = new DescribeTableVersionRequest();
      request.setVersion(2L);
      return tables.describeTableVersion(table, request, null).getVersion().getVersion();
    });
    same("create a tag", 1L, () -> {
      CreateTableTagRequest request = new CreateTableTagRequest();
      request.setTag("first");
      request.setVersion(1L);
      tags.createTableTag(table, request, null);
      GetTableTagVersionRequest asked = new GetTableTagVersionRequest();
      asked.setTag("first");
      return tags.getTableTagVersion(table, asked, null).getVersion();
    });
    same("move the tag, list the tags", 2L, () -> {
      UpdateTableTagRequest request = new UpdateTableTagRequest();
      request.setTag("first");
      request.setVersion(2L);
      tags.updateTableTag(table, request, null);
      return tags.listTableTags(table, null, null, null).getTags().get("first").getVersion();
    });
    same("delete the tag", 0, () -> {
      DeleteTableTagRequest request = new DeleteTableTagRequest();
      request.setTag("first");
      tags.deleteTableTag(table, request, null);
      return tags.listTableTags(table, null, null, null).getTags().size();
    });
    same("add a column", 7L, () -> {
      AddColumnsEntry column = new AddColumnsEntry();
      column.setName("double");
      column.setExpression("id * 2");
      AlterTableAddColumnsRequest request = new AlterTableAddColumnsRequest();
      request.addNewColumnsItem(column);
      return tables.alterTableAddColumns(table, request, null).getVersion();
    });
    same("rename the column and drop it", 9L, () -> {
      AlterColumnsEntry change = new AlterColumnsEntry();
      change.setPath("double");
      change.setRename("twice");
      AlterTableAlterColumnsRequest request = new AlterTableAlterColumnsRequest();
      request.addAlterationsItem(change);
      tables.alterTableAlterColumns(table, request, null);
      AlterTableDropColumnsRequest drop = new AlterTableDropColumnsRequest();
      drop.addColumnsItem("twice");
      return tables.alterTableDropColumns(table, drop, null).getVersion();
    });
    same("read the statistics", 4L,
        () -> tables.getTableStats(table, new GetTableStatsRequest(), null).getNumRows());
    same("restore a version", 3L, () -> {
      RestoreTableRequest request = new RestoreTableRequest();
      request.setVersion(1L);
      tables.restoreTable(table, request, null);
      return tables.countTableRows(table, new CountTableRowsRequest(), null);
    });
    same("rename the table, which stays in its namespace", List.of("u"), () -> {
      RenameTableRequest request = new RenameTableRequest();
      request.setNewTableName("u");
      tables.renameTable(table, request, null);
      return tables.listTables("n", null, null, null, null).getTables().stream().toList();
    });
    same("move it to another namespace", List.of("n$in$v"), () -> {
      RenameTableRequest request = new RenameTableRequest();
      request.setNewTableName("v");
      request.setNewNamespaceId(Arrays.asList("n", "in"));
      tables.renameTable("n$u", request, null);
      return tables.listAllTables(null, null, null, null).getTables().stream().toList();
    });
    refused("a transaction that is not there", 404, () ->
        transactions.describeTransaction("missing", new DescribeTransactionRequest(), null));
    same("declare, deregister and drop", List.of(), () -> {
      tables.declareTable("n$d", new DeclareTableRequest(), null);
      tables.deregisterTable("n$d", new DeregisterTableRequest(), null);
      tables.dropTable("n$in$v", null);
      namespaces.dropNamespace("n$in", new DropNamespaceRequest(), null);
      DropNamespaceRequest cascade = new DropNamespaceRequest();
      cascade.setBehavior("Cascade");
      namespaces.dropNamespace("n", cascade, null);
      return namespaces.listNamespaces("$", null, null, null).getNamespaces().stream().toList();
    });

    System.out.println((steps - failures) + " of " + steps + " steps");
    System.exit(failures == 0 ? 0 : 1);
  }
}
