-- Tables and views of the database that this user may see, and for each the views that its inserts fill. A user
-- that may insert into a table sees the names of its views here, also of those that it may not see by themselves.
SELECT
    name AS table_name,
    arrayFilter((view, place) -> place = currentDatabase(), dependencies_table, dependencies_database) AS views
FROM system.tables
WHERE database = currentDatabase()
ORDER BY table_name
