"""Plans of a class, for whoever teaches it; `secondorder notebook DIR --class 90` writes them."""
